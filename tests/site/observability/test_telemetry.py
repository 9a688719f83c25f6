"""Traces that a server sends to a collector."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from queue import Queue
from signal import SIGTERM
from threading import Thread

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
