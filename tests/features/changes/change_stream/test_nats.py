"""Delivery to a NATS server; skipped without one (Debian's package nats-server)."""

import asyncio
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from threading import Thread

import pytest

from edfi_api.features.changes.change_stream.documents import Operation
from edfi_api.features.changes.change_stream.exceptions import SinkFailed
from tests.features.changes.change_stream.changes import change

nats = pytest.importorskip("nats", reason="requirements/nats.lock is not installed")
pytestmark = pytest.mark.skipif(shutil.which("nats-server") is None, reason="there is no nats-server")


@contextmanager
def started(port, folder):
    """A server that answers, and ends with the context."""
    command = ["nats-server", "--addr", "127.0.0.1", "--port", str(port), "--jetstream", "--store_dir", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 30
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield process
        process.kill()


@pytest.fixture
def broker(tmp_path):
    """The address and the process of the server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with started(port, tmp_path) as process:
        yield f"nats://127.0.0.1:{port}", process


def stored(address):
    """Subject and text of all stored messages."""

    async def read():
        client = await nats.connect(address)
        broker = client.jetstream()
        subscription = await broker.subscribe("meadowlark.>", ordered_consumer=True)
        state = (await broker.stream_info("MEADOWLARK")).state
        messages = [await subscription.next_msg(timeout=10) for _ in range(state.messages)]
        await client.close()
        return [(message.subject, message.data) for message in messages]

    return asyncio.run(read())


def test_changes_are_stored_in_order_and_once(broker):
    from edfi_api.features.changes.change_stream.sinks.nats import Nats  # noqa: PLC0415  It cannot be imported without the client.

    address, _ = broker
    changes = [change(version) for version in range(1, 1200)] + [change(1200, Operation.DELETE, None)]
    sink = Nats("lake", [address])
    sink.send(changes)
    sink.close()

    again = Nats("lake", [address])
    again.send(changes[-10:])
    again.close()

    assert stored(address) == [(f"meadowlark.ed-fi.students.{each.operation}", each.line()) for each in changes]


def test_a_stopped_broker_is_a_failure(broker):
    from edfi_api.features.changes.change_stream.sinks.nats import Nats  # noqa: PLC0415

    address, process = broker
    sink = Nats("lake", [address], timeout_seconds=1, outage_seconds=2)
    process.kill()
    process.wait()

    with pytest.raises(SinkFailed, match="NATS"):
        sink.send([change(1)])
    with pytest.raises(SinkFailed, match="NATS"):
        Nats("lake", [address], timeout_seconds=1, outage_seconds=2)


@pytest.mark.parametrize("is_at_start", [True, False])
def test_a_broker_that_is_away_for_seconds_is_waited_for(broker, tmp_path, is_at_start):
    """Longer than the client of NATS tries to connect again."""
    from edfi_api.features.changes.change_stream.sinks.nats import Nats  # noqa: PLC0415

    address, process = broker
    sink = None if is_at_start else Nats("lake", [address], timeout_seconds=1)
    process.kill()
    process.wait()
    sent = []

    def send():
        to = sink or Nats("lake", [address], timeout_seconds=1)
        to.send([change(1), change(2)])
        to.close()
        sent.append(True)

    sending = Thread(target=send, daemon=True)
    sending.start()
    time.sleep(8)
    with started(int(address.rsplit(":", 1)[1]), tmp_path):
        sending.join(60)
        assert sent
        assert [data for _, data in stored(address)] == [change(1).line(), change(2).line()]
