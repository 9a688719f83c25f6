"""Delivery by webhook: batches, signatures, retries."""

import base64
import hashlib
import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.core.exceptions import ImproperlyConfigured

from edfi_api.features.changes.change_stream.exceptions import SinkFailed
from edfi_api.features.changes.change_stream.sinks.webhook import Webhook
from tests.features.changes.change_stream.changes import change

SECRET = "whsec_" + base64.b64encode(b"a secret of our own").decode()


class Receiver:
    """Answers with the given statuses, then with 204; keeps the requests."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.requests: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append((dict(self.headers), body))
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 204)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/changes"

    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.requests]


@pytest.fixture
def receiver():
    receiver = Receiver()
    thread = threading.Thread(target=receiver.server.serve_forever)
    thread.start()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()
    thread.join()


def test_changes_arrive_in_batches_of_lines(receiver: Receiver) -> None:
    Webhook("lake", receiver.url, SECRET, batch=2).send([change(version) for version in range(1, 6)])

    lines = [[json.loads(line)["changeVersion"] for line in body.splitlines()] for _, body in receiver.requests]
    assert lines == [[1, 2], [3, 4], [5]]
    assert receiver.ids() == ["lake-1-2", "lake-3-4", "lake-5-5"]
    assert receiver.requests[0][0]["Content-Type"] == "application/x-ndjson"


def test_the_signature_is_the_one_of_standard_webhooks(receiver: Receiver) -> None:
    Webhook("lake", receiver.url, SECRET).send([change(1)])

    [(headers, body)] = receiver.requests
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = hmac.new(b"a secret of our own", signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()


def test_a_batch_is_retried_under_the_same_id(receiver: Receiver) -> None:
    receiver.statuses = [503, 429]

    Webhook("lake", receiver.url, SECRET, attempts=3).send([change(1)])

    assert receiver.ids() == ["lake-1-1"] * 3


@pytest.mark.parametrize(("status", "attempts"), [(400, 1), (302, 1), (500, 2)])
def test_a_refused_batch_is_a_failure(receiver: Receiver, status: int, attempts: int) -> None:
    receiver.statuses = [status] * 9

    with pytest.raises(SinkFailed, match=f"answered {status}"):
        Webhook("lake", receiver.url, SECRET, attempts=1).send([change(1)])

    assert len(receiver.requests) == attempts


def test_an_unreachable_receiver_is_a_failure() -> None:
    with pytest.raises(SinkFailed, match="cannot be reached"):
        Webhook("lake", "http://127.0.0.1:1/", SECRET, attempts=0).send([change(1)])


def test_a_webhook_requires_an_address_and_a_secret() -> None:
    with pytest.raises(ImproperlyConfigured, match="MEADOWLARK_WEBHOOK_URL"):
        Webhook("lake", "", "")
