"""Traces, logs and metrics that a server sends to a collector."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from pathlib import Path
from signal import SIGTERM
from threading import Thread
from typing import Any

import httpx
import pytest

from tests.meadowlark.run.make_run import Client, Run
from tests.support.ports import free_port
from tests.whole.robustness.waiting import wait_until

pytest.importorskip("opentelemetry.instrumentation.wsgi", reason="needs requirements/telemetry.txt")

TOP = Path(__file__).parents[3]
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


class Sent:
    """What a server has sent to a collector: the messages to each path."""

    def __init__(self) -> None:
        self._messages: defaultdict[str, list[bytes]] = defaultdict(list)

    def add(self, path: str, message: bytes) -> None:
        self._messages[path].append(message)

    @property
    def paths(self) -> set[str]:
        return set(self._messages)

    @property
    def traces(self) -> bytes:
        return b"".join(self._messages.get("/v1/traces", ()))

    @property
    def logs(self) -> bytes:
        return b"".join(self._messages.get("/v1/logs", ()))

    @property
    def metrics(self) -> bytes:
        """The last message, which has the counts of all that went before."""
        return self._messages.get("/v1/metrics", [b""])[-1]

    def metric(self, name: str) -> Any:
        metrics_service = import_module("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
        request = metrics_service.ExportMetricsServiceRequest.FromString(self.metrics)
        [scope] = request.resource_metrics[0].scope_metrics
        return next(each for each in scope.metrics if each.name == name)

    def requests(self, status: int) -> float:
        """How many there were; metrics that were sent before the first request have no line of them."""
        if b"meadowlark_requests" not in self.metrics:
            return 0
        points = self.metric("meadowlark_requests").sum.data_points
        return sum(point.as_double for point in points if _labels(point)["status"] == str(status))


@contextmanager
def collector() -> Iterator[tuple[str, Sent]]:
    """Yield the address of a collector, and what it has received."""
    sent = Sent()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.add(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Suppresses output."""

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", sent
        server.shutdown()


@pytest.fixture(scope="module")
def sent() -> Iterator[tuple[str, Sent]]:
    with collector() as address_and_sent:
        yield address_and_sent


@pytest.fixture(scope="module")
def server(sent: tuple[str, Sent], tmp_path_factory: pytest.TempPathFactory, prepared_home) -> Iterator[Run]:
    """Two workers that send everything to the collector."""
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": sent[0],
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        "OTEL_SERVICE_NAME": "meadowlark-under-test",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "otlp",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        "OTEL_BLRP_SCHEDULE_DELAY": "100",
        "OTEL_METRIC_EXPORT_INTERVAL": "200",
        "MEADOWLARK_WORKERS": "2",
    }
    run = Run(prepared_home(tmp_path_factory.mktemp("traced") / "home"), free_port(), **environment)
    try:
        run.wait_until_served()
        yield run
    finally:
        run.stop(SIGTERM)


def test_a_request_is_a_span_in_the_trace_of_its_client(server: Run, sent: tuple[str, Sent]) -> None:
    _, received = sent
    trace = {"traceparent": f"00-{TRACE_ID}-b7ad6b7169203331-01"}
    httpx.get(f"{server.address}/health?lastSurname=Zebulon", headers=trace | {"correlationid": "mine-17"})
    client = Client(server.address, *server.credentials())
    assert client.get("students", lastSurname="Zebulon") == []
    wait_until(lambda: b"mine-17" in received.traces and b"FROM document" in received.traces, 30)

    spans = received.traces
    assert bytes.fromhex(TRACE_ID) in spans
    assert b"meadowlark-under-test" in spans
    assert b"/health" in spans
    assert b"meadowlark.correlation_id" in spans
    assert b"Zebulon" not in spans
    # The statement of a page bypasses Django's cursors, the health check of the database does not.
    assert b"db.query.text" in spans and b"postgresql" in spans
    assert b"SELECT 1" in spans


def test_logs_and_metrics_of_all_workers_are_sent_where_they_are_asked_for(server: Run, sent: tuple[str, Sent]) -> None:
    _, received = sent
    for _ in range(6):  # On connections of their own, so that each worker answers some.
        httpx.get(f"{server.address}/data/ed-fi/students", headers={"correlationid": "mine-18"})
    wait_until(lambda: received.requests(401) == 6 and b"mine-18" in received.logs, 30)

    assert received.paths == {"/v1/traces", "/v1/logs", "/v1/metrics"}
    assert b"meadowlark.correlation_id" in received.logs
    assert b"meadowlark.requests" in received.logs
    assert b"meadowlark-under-test" in received.logs and b"meadowlark-under-test" in received.metrics
    assert b"meadowlark_client_requests" not in received.metrics
    seconds = received.metric("meadowlark_request_seconds").histogram
    [of_data] = [point for point in seconds.data_points if _labels(point)["view"] == "data"]
    assert of_data.count >= 6
    assert list(of_data.explicit_bounds)[:3] == [0.002, 0.005, 0.01]
    [up] = received.metric("meadowlark_database_up").gauge.data_points
    assert up.as_int == 1


@pytest.mark.long
def test_only_what_is_asked_for_is_sent(tmp_path: Path, prepared_home) -> None:
    with collector() as (address, received):
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        run = Run(prepared_home(tmp_path / "home"), free_port(), OTEL_EXPORTER_OTLP_COMPRESSION="none", **environment)
        try:
            run.wait_until_served()
            httpx.get(f"{run.address}/data/ed-fi/students")
            wait_until(lambda: b"/data/ed-fi/students" in received.traces, 30)
        finally:
            run.stop(SIGTERM)

    assert received.paths == {"/v1/traces"}


@pytest.mark.long
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


def _labels(point: Any) -> dict[str, str]:
    return {each.key: each.value.string_value for each in point.attributes}


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
