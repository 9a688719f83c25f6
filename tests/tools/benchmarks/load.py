"""The load generator, a separate process: wrk if it is installed, else `python -m tests.tools.benchmarks.load`.

Both send prepared requests unchanged from a file, over persistent connections, and start over at the end of the file.
The one in Python needs no installation, but about twice the processor time of wrk, which is reported with each
measurement.
"""

import argparse
import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from tests.support.server_processes import ADDRESS

_SCRIPT = Path(__file__).with_name("wrk.lua")
_HEAD = re.compile(rb"HTTP/1\.[01] (\d{3}).*?\r\ncontent-length: (\d+)", re.IGNORECASE | re.DOTALL)
_STATUS_WITHOUT_BODY = re.compile(rb"HTTP/1\.[01] (204|304)")


@dataclass(frozen=True)
class Measured:
    """One measurement; times in milliseconds. `generator_share` is the share of one core that the generator used.

    `server_cost` and `database_cost` are the microseconds of processor time that one request took there.
    """

    requests: int
    errors: int
    per_second: float
    p50: float
    p99: float
    generator_share: float | None = None
    server_cost: float | None = None
    database_cost: float | None = None

    @property
    def cost(self) -> float:
        """Return the cost of server and database together."""
        return (self.server_cost or 0) + (self.database_cost or 0)


def measure(port: int, requests: Sequence[bytes], connections: int, seconds: float) -> Measured:
    """Each connection sends its next request when the previous one is answered."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(b"%d\n%s" % (len(request), request) for request in requests))
        file.flush()
        command = _command(port, file.name, connections, seconds)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            output = process.stdout.read() if process.stdout else ""
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[0]} failed")
    result = json.loads(output.splitlines()[-1])
    share = (usage.ru_utime + usage.ru_stime) / result.pop("seconds")
    return Measured(**result, generator_share=share)


def name() -> str:
    """The name of the generator."""
    return "wrk" if shutil.which("wrk") else "python -m tests.tools.benchmarks.load"


def _command(port: int, file: str, connections: int, seconds: float) -> list[str]:
    if wrk := shutil.which("wrk"):
        load = ["--threads", "1", "--connections", str(connections), "--duration", f"{round(seconds)}s"]
        return [wrk, *load, "--script", str(_SCRIPT), f"http://{ADDRESS}:{port}", file]
    return [sys.executable, "-m", __name__, str(port), file, str(connections), str(seconds)]


def main() -> None:
    """The generator in Python: one thread, all connections in one epoll."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.benchmarks.load")
    parser.add_argument("port", type=int)
    parser.add_argument("file", type=Path)
    parser.add_argument("connections", type=int)
    parser.add_argument("seconds", type=float)
    options = parser.parse_args()
    requests = cycle(list(_read(options.file.read_bytes())))
    print(json.dumps(_run(options.port, requests, options.connections, options.seconds)))


def _read(text: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(text):
        end = text.index(b"\n", position)
        length = int(text[position:end])
        yield text[end + 1 : end + 1 + length]
        position = end + 1 + length


def _run(port: int, requests: Iterator[bytes], connections: int, seconds: float) -> dict[str, float]:
    poll = select.epoll()
    open_connections = {}
    times: list[float] = []
    errors = 0
    start = time.perf_counter()
    for _ in range(connections):
        connection = _Connection(port)
        open_connections[connection.socket.fileno()] = connection
        poll.register(connection.socket.fileno(), select.EPOLLIN)
        connection.send(next(requests))
    while (now := time.perf_counter()) < start + seconds or not times:
        for number, _ in poll.poll(0.1):
            connection = open_connections[number]
            if status := connection.status_if_complete():
                times.append(time.perf_counter() - connection.sent_at)
                errors += status >= 400
                connection.send(next(requests))
    times.sort()
    return {
        "requests": len(times),
        "errors": errors,
        "per_second": len(times) / (now - start),
        "p50": 1000 * times[len(times) // 2],
        "p99": 1000 * times[len(times) * 99 // 100],
        "seconds": now - start,
    }


class _Connection:
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((ADDRESS, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, request: bytes) -> None:
        self._answer = b""
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def status_if_complete(self) -> int:
        """0 while a part of the answer is missing."""
        received = self.socket.recv(65536)
        if not received:
            raise ConnectionError("the server closed a connection")
        self._answer += received
        head_end = self._answer.find(b"\r\n\r\n")
        if head_end < 0:
            return 0
        if without_body := _STATUS_WITHOUT_BODY.match(self._answer):
            return int(without_body[1])
        head = _HEAD.match(self._answer, 0, head_end)
        if head is None:
            raise ConnectionError("an answer without Content-Length")
        return int(head[1]) if len(self._answer) >= head_end + 4 + int(head[2]) else 0


if __name__ == "__main__":
    main()
