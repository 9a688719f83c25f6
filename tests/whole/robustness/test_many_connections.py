"""Persistent connections opened at the same time, as by a proxy or a pool, are distributed among the workers."""

import socket
from contextlib import ExitStack

import psutil
import pytest

CONNECTIONS = 64


@pytest.mark.parametrize("_", range(10))
def test_connections_are_distributed_among_the_workers(real_server, _):
    with ExitStack() as held:
        clients = [held.enter_context(socket.socket()) for _ in range(CONNECTIONS)]
        for client in clients:
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", real_server.port))
        for client in clients:
            client.settimeout(10)
            client.sendall(b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        answers = [client.recv(65536) for client in clients]
        found = [_connections(worker, real_server.port) for worker in real_server.workers()]

    assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers)
    assert sum(found) == CONNECTIONS
    assert min(found) >= CONNECTIONS // 4, found


def _connections(worker: psutil.Process, port: int) -> int:
    return sum(each.status == psutil.CONN_ESTABLISHED and each.laddr.port == port for each in worker.net_connections())
