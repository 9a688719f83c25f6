"""Traces, logs and metrics that a server sends to a collector."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from pathlib import Path
from queue import Queue
from signal import SIGTERM
from threading import Thread
from typing import Any

import httpx
import pytest

from tests.meadowlark.run.make_run import Client, Run
from tests.support.ports import free_port

pytest.importorskip("opentelemetry.instrumentation.wsgi", reason="needs requirements/telemetry.txt")

TOP = Path(__file__).parents[3]
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def received() -> Iterator[tuple[str, Queue[tuple[str, bytes]]]]:
    """The address of a collector, and the messages that it receives."""
    messages: Queue[tuple[str, bytes]] = Queue()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            messages.put((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Suppresses output."""

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", messages
        server.shutdown()


def sent_until(messages: Queue[tuple[str, bytes]], text: bytes) -> tuple[str, bytes]:
    """Waits for a message with this text; returns its path, and the content of all messages."""
    sent = b""
    while text not in sent:
        path, message = messages.get(timeout=30)
        sent += message
    return path, sent


def test_a_request_is_a_span_in_the_trace_of_its_client(received, tmp_path: Path, prepared_home) -> None:
    address, messages = received
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": address,
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        "OTEL_SERVICE_NAME": "meadowlark-under-test",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    run = Run(prepared_home(tmp_path / "home"), free_port(), **environment)
    try:
        run.wait_until_served()
        trace = {"traceparent": f"00-{TRACE_ID}-b7ad6b7169203331-01"}
        httpx.get(f"{run.address}/health?lastSurname=Zebulon", headers=trace | {"correlationid": "mine-17"})
        path, span = sent_until(messages, b"meadowlark.correlation_id")
        client = Client(run.address, *run.credentials())
        assert client.get("students", lastSurname="Zebulon") == []
        _, statements = sent_until(messages, b"FROM document")
    finally:
        run.stop(SIGTERM)

    assert path == "/v1/traces"
    assert bytes.fromhex(TRACE_ID) in span
    assert b"meadowlark-under-test" in span
    assert b"/health" in span
    assert b"meadowlark.correlation_id" in span and b"mine-17" in span
    assert b"Zebulon" not in span
    # The statement of a page bypasses Django's cursors, the health check of the database does not.
    assert b"db.query.text" in statements and b"postgresql" in statements
    assert b"SELECT 1" in span
    assert b"Zebulon" not in statements


def test_logs_and_metrics_of_all_workers_are_sent_where_they_are_asked_for(
    received, tmp_path: Path, prepared_home
) -> None:
    address, messages = received
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": address,
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        "OTEL_SERVICE_NAME": "meadowlark-under-test",
        "OTEL_TRACES_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "otlp",
        "OTEL_METRIC_EXPORT_INTERVAL": "200",
        "OTEL_BLRP_SCHEDULE_DELAY": "100",
        "MEADOWLARK_WORKERS": "2",
    }
    run = Run(prepared_home(tmp_path / "home"), free_port(), **environment)
    try:
        run.wait_until_served()
        for _ in range(6):  # On connections of their own, so that each worker answers some.
            httpx.get(f"{run.address}/data/ed-fi/students", headers={"correlationid": "mine-18"})
        sent = _sent_until(messages, lambda sent: _requests(sent, 401) == 6 and b"mine-18" in sent["/v1/logs"])
    finally:
        run.stop(SIGTERM)

    assert set(sent) == {"/v1/logs", "/v1/metrics"}
    assert b"meadowlark.correlation_id" in sent["/v1/logs"]
    assert b"meadowlark.requests" in sent["/v1/logs"]
    assert b"meadowlark-under-test" in sent["/v1/logs"] and b"meadowlark-under-test" in sent["/v1/metrics"]
    assert b"meadowlark_client_requests" not in sent["/v1/metrics"]
    seconds = _last(sent, "meadowlark_request_seconds").histogram
    assert [point.count for point in seconds.data_points if _labels(point)["view"] == "data"] == [6]
    assert list(seconds.data_points[0].explicit_bounds)[:3] == [0.002, 0.005, 0.01]
    [up] = _last(sent, "meadowlark_database_up").gauge.data_points
    assert up.as_int == 1


def test_a_collector_that_does_not_answer_holds_nothing_up(tmp_path: Path, prepared_home) -> None:
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "otlp",
        "OTEL_METRIC_EXPORT_INTERVAL": "100",
        "OTEL_BLRP_SCHEDULE_DELAY": "100",
    }
    run = Run(prepared_home(tmp_path / "home"), free_port(), **environment)
    try:
        run.wait_until_served()
        statuses = {httpx.get(f"{run.address}/data/ed-fi/students").status_code for _ in range(10)}
        run.wait_until_printed("opentelemetry.exporter")
    finally:
        run.stop(SIGTERM)

    assert statuses == {401}


EXPORTED_LOG = """
import logging
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from edfi_api.common.logs.correlation import correlated
from edfi_api.site.observability.telemetry_logs import ExportedLog

exporter, provider = InMemoryLogRecordExporter(), LoggerProvider()
provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
logging.getLogger().addHandler(ExportedLog(provider))
for name in ("urllib3.connectionpool", "opentelemetry.exporter.otlp"):
    logging.getLogger(name).error("The collector does not answer.")
with correlated("mine-19"):
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("edfi_api.somewhere").exception("It %s.", "fails", extra={"status": 500, "request": object()})
[line] = exporter.get_finished_logs()
print(line.log_record.body, line.log_record.severity_number.name, line.instrumentation_scope.name)
attributes = dict(line.log_record.attributes)
print("ValueError: broken" in attributes.pop("exception.stacktrace"), sorted(attributes.items()))
"""


def test_lines_are_exported_with_their_facts_and_those_of_exporters_are_not() -> None:
    """Each line about a failed export would cause the next one."""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "meadowlark.settings"}
    command = [sys.executable, "-c", EXPORTED_LOG]

    output = subprocess.run(command, cwd=TOP, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    assert output.splitlines() == [
        "It fails. ERROR edfi_api.somewhere",
        "True [('exception.message', 'broken'), ('exception.type', 'ValueError'),"
        " ('meadowlark.correlation_id', 'mine-19'), ('status', 500)]",
    ]


def _sent_until(messages: Queue[tuple[str, bytes]], is_enough: Callable[[dict[str, bytes]], bool]) -> dict[str, bytes]:
    """Return what was sent to each path: all logs, and the last metrics."""
    sent: dict[str, bytes] = {}
    while not {"/v1/logs", "/v1/metrics"} <= sent.keys() or not is_enough(sent):
        path, message = messages.get(timeout=30)
        sent[path] = message if path == "/v1/metrics" else sent.get(path, b"") + message
    return sent


def _last(sent: dict[str, bytes], name: str) -> Any:
    metrics_service = import_module("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    request = metrics_service.ExportMetricsServiceRequest.FromString(sent["/v1/metrics"])
    [scope] = request.resource_metrics[0].scope_metrics
    return next(each for each in scope.metrics if each.name == name)


def _labels(point: Any) -> dict[str, str]:
    return {each.key: each.value.string_value for each in point.attributes}


def _requests(sent: dict[str, bytes], status: int) -> float:
    """Return how many there were; metrics that were sent before the first request have no line of them."""
    if b"meadowlark_requests" not in sent["/v1/metrics"]:
        return 0
    points = _last(sent, "meadowlark_requests").sum.data_points
    return sum(point.as_double for point in points if _labels(point)["status"] == str(status))


QUERY = "firstName=Zebulon&birthDate=2010-02-03"
TRACED_REQUEST = f"""
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from wsgiref.util import setup_testing_defaults
from edfi_api.site.observability.telemetry import traced

exporter, provider, received = InMemorySpanExporter(), TracerProvider(), []
provider.add_span_processor(SimpleSpanProcessor(exporter))

def application(environ, start_response):
    received.append((environ["QUERY_STRING"], environ["RAW_URI"]))
    start_response("404 Not Found", [("Location", "/data/ed-fi/students?{QUERY}")])
    return [b""]

path, query = "/data/ed-fi/students", "{QUERY}"
whole = f"{{path}}?{{query}}"
environ = {{"PATH_INFO": path, "QUERY_STRING": query, "RAW_URI": whole, "REQUEST_URI": whole, "HTTP_REFERER": whole}}
setup_testing_defaults(environ)
list(traced(application, provider)(environ, lambda *_: None))
assert received == [(query, whole)], "the application has lost its query"
[span] = exporter.get_finished_spans()
print(span.to_json())
"""


@pytest.mark.parametrize("conventions", ["", "http", "http/dup"])
def test_a_span_has_the_path_without_the_query(conventions: str) -> None:
    """In a subprocess, since OpenTelemetry reads the configured conventions once."""
    environment = os.environ | {"OTEL_SEMCONV_STABILITY_OPT_IN": conventions}
    command = [sys.executable, "-c", TRACED_REQUEST]

    output = subprocess.run(command, cwd=TOP, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    span = json.loads(output)
    paths = [span["attributes"].get(name) for name in ("http.target", "url.path")]
    assert "/data/ed-fi/students" in paths
    assert set(paths) <= {"/data/ed-fi/students", None}
    assert span["name"] == "GET /data/ed-fi/students"
    assert "Zebulon" not in output
    assert "2010-02-03" not in output
