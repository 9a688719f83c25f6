"""Traces, sent to a collector by a server that was told where it is."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from queue import Queue
from signal import SIGTERM
from threading import Thread

import httpx
import pytest

from tests.house.test_make_run import Run
from tests.ports import free_port

pytest.importorskip("opentelemetry.instrumentation.wsgi", reason="needs requirements.telemetry.txt")

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def received() -> Iterator[tuple[str, Queue[tuple[str, bytes]]]]:
    """The address of a collector, and what is sent to it."""
    messages: Queue[tuple[str, bytes]] = Queue()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            messages.put((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    server = HTTPServer(("127.0.0.1", 0), Collector)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", messages
    server.shutdown()


def test_a_request_is_a_span_in_the_trace_of_its_client(received, tmp_path: Path) -> None:
    address, messages = received
    told = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": address,
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        "OTEL_SERVICE_NAME": "meadowlark-under-test",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    run = Run(tmp_path / "home", free_port(), **told)
    try:
        run.wait_until_served()
        httpx.get(f"{run.address}/health", headers={"traceparent": f"00-{TRACE_ID}-b7ad6b7169203331-01"})
        path, span = messages.get(timeout=30)
    finally:
        run.stop(SIGTERM)

    assert path == "/v1/traces"
    assert bytes.fromhex(TRACE_ID) in span
    assert b"meadowlark-under-test" in span
