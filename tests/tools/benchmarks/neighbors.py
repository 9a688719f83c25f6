"""`make bench-neighbors`: how long one client waits beside another one that sends as much as it can.

    python -m tests.tools.benchmarks.neighbors [--connections N ...] [--servers N] [--apart] [--only TEXT] [--seconds S]

The polite client reads documents by id, one after the other, on one connection: alone, then beside a greedy client with
so many connections, each of which sends its next request as soon as the previous one is answered: pages of 500, totals,
writes, batches. With several servers, all on one database, the greedy client has so many connections to each, and the
polite one reads from the first.

With `--apart`, each load is also sent to a server of its own with a database of its own on the same cores. What the
polite client waits then is what sharing the machine costs; what it waits longer otherwise is due to the server.

Times are those of the polite client in milliseconds, `times alone` is its median beside the greedy client relative to
that alone, measured just before. `greedy` are the answers of the greedy client per second, `refused` those with 429 and
503, `closed` its connections that were closed without an answer. Both generators and PostgreSQL share the cores with
the servers: ratios are of use, rates are not. With several rounds, their medians follow.
"""

import argparse
import json
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path
from statistics import fmean, median
from typing import Any

from tests.support.server_processes import ADDRESS, Server, constant_view, meadowlark, token_of_new_client
from tests.tools.benchmarks.command_line import parser_of_rounds, write_json
from tests.tools.benchmarks.verification import verify
from tests.tools.benchmarks.workloads import Workloads, student

CONNECTIONS = (64, 200, 1000)
_SEEDED = 1000
_PER_BATCH = 100
_FIRST_NEW_STUDENT = 1_000_000
# Until all connections of the greedy client are open, and each has sent something.
_WARM_UP_SECONDS = 3.0
# The speed of a shared machine changes, so each measurement has one without the greedy client before it.
_SECONDS_ALONE = 1.0
_RECEIVED = 2**18


def main() -> int:
    """The command line; see the module's docstring."""
    parser = parser_of_rounds("neighbors", __doc__, 1, 5.0)
    parser.add_argument("--connections", type=int, nargs="+", default=CONNECTIONS, help="of the greedy client")
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--apart", action="store_true", help="also beside the same load on another server")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="meadowlark-neighbors-") as folder, ExitStack() as running:
        first = running.enter_context(meadowlark(Path(folder) / "home"))
        others = [_another(first, Path(folder) / f"home{place}", running) for place in range(2, options.servers + 1)]
        workloads = Workloads(first)
        workloads.seed(_SEEDED)
        loads = [_load("", first, Path(folder) / "home", [first.port, *others])]
        if options.apart:
            apart = running.enter_context(meadowlark(Path(folder) / "apart"))
            Workloads(apart).seed(_SEEDED)
            loads.append(_load(", apart", apart, Path(folder) / "apart", [apart.port]))
        rows = list(_measured(first, workloads.association_by_id(), loads, Path(folder), options))
        if options.rounds > 1:
            _print_medians(rows)
        verify(first.database_url, Path(folder) / "home")
    write_json(options.json, rows)
    return 0


def _another(first: Server, home: Path, running: ExitStack) -> int:
    """The port of another server on the database of the first one."""
    variables = {"DATABASE_URL": first.database_url, "MEADOWLARK_HOME": str(home)}
    application = "meadowlark.wsgi:application"
    port, _ = running.enter_context(constant_view(home, application=application, **variables))
    return port


@dataclass(frozen=True)
class _Load:
    """What a greedy client sends, by name, and to which ports. Each call makes documents that were not sent before."""

    suffix: str
    requests: dict[str, Callable[[], list[bytes]]]
    ports: Sequence[int]


def _load(suffix: str, server: Server, home: Path, ports: Sequence[int]) -> _Load:
    environment = {"DATABASE_URL": server.database_url, "MEADOWLARK_HOME": str(home)}
    token = token_of_new_client(server, environment, "--claim-set", "EdFiSandbox", "greedy")
    return _Load(suffix, _greedy_requests(server, token), ports)


def _measured(
    server: Server, polite: list[bytes], loads: Sequence[_Load], folder: Path, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """A row for each measurement, which is also printed."""
    heading = f"{'p50':>8}{'mean':>8}{'p99':>9}{'times alone':>13}{'greedy':>9}{'refused':>9}{'closed':>8}"
    print(f"{'beside':>26}{heading}", flush=True)
    _times(server, polite, 1)
    names = [name for name in loads[0].requests if options.only in name]
    for number, name, connections, load in product(range(options.rounds), names, options.connections, loads):
        alone = _row("alone", _times(server, polite, _SECONDS_ALONE))
        greedy = [_Greedy(port, load.requests[name](), connections, folder, options.seconds) for port in load.ports]
        row = _beside(f"{name}, {connections}{load.suffix}", server, polite, options.seconds, greedy)
        row |= {"round": number, "alone": alone["p50"], "times": row["p50"] / alone["p50"]}
        _print(row)
        yield row


def _greedy_requests(server: Server, token: str) -> dict[str, Callable[[], list[bytes]]]:
    """Requests of the greedy client by their name; its connections go through all of them together."""
    new = count(_FIRST_NEW_STUDENT)
    path = "/data/ed-fi"

    def request(method: str, target: str, content: bytes = b"") -> bytes:
        head = [f"{method} {target} HTTP/1.1", f"Host: {ADDRESS}:{server.port}", f"Authorization: Bearer {token}"]
        if content:
            head += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        return "\r\n".join([*head, "", ""]).encode() + content

    def batch() -> bytes:
        operations = [{"resource": "/ed-fi/students", "document": student(next(new))} for _ in range(_PER_BATCH)]
        return json.dumps(operations).encode()

    def read(target: str) -> Callable[[], list[bytes]]:
        return lambda: [request("GET", f"{path}/{target}")]

    def write() -> bytes:
        return request("POST", f"{path}/students", json.dumps(student(next(new))).encode())

    return {
        "pages of 500": read("studentSchoolAssociations?limit=500"),
        "totals": read("studentSchoolAssociations?limit=0&totalCount=true"),
        "GET by id": read(f"students/{'0' * 32}"),
        "writes": lambda: [write() for _ in range(20_000)],
        "batches": lambda: [request("POST", "/batch", batch()) for _ in range(500)],
    }


@dataclass(frozen=True)
class _Greedy:
    """A process that sends these requests over so many connections."""

    port: int
    requests: list[bytes]
    connections: int
    folder: Path
    seconds: float

    def start(self) -> subprocess.Popen[str]:
        file = self.folder / f"requests-{self.port}"
        file.write_bytes(b"".join(b"%d\n%s" % (len(request), request) for request in self.requests))
        seconds = str(self.seconds + _WARM_UP_SECONDS)
        command = [
            sys.executable,
            "-m",
            "tests.tools.benchmarks.neighbors",
            str(self.port),
            str(file),
            str(self.connections),
            seconds,
        ]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _beside(
    name: str, server: Server, polite: list[bytes], seconds: float, greedy: Sequence[_Greedy]
) -> dict[str, Any]:
    running = [each.start() for each in greedy]
    time.sleep(_WARM_UP_SECONDS)
    row = _row(name, _times(server, polite, seconds))
    answered: Counter[str] = Counter()
    for process in running:
        output, _ = process.communicate(timeout=seconds + 60)
        answered.update(json.loads(output))
    refused = answered["429"] + answered["503"]
    all_answers = sum(answered[each] for each in answered if each != "closed")
    return row | {
        "greedy": round(all_answers / (seconds + _WARM_UP_SECONDS)),
        "refused": refused,
        "closed": answered["closed"],
        "answers": dict(answered),
    }


def _times(server: Server, requests: list[bytes], seconds: float) -> list[float]:
    """Of the requests that were sent one after the other in so many seconds, and of at least one, in milliseconds."""
    connection = socket.create_connection((ADDRESS, server.port), timeout=120)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times = []
    end = time.perf_counter() + seconds
    with connection:
        for place in count():
            begin = time.perf_counter()
            if times and begin > end:
                return times
            connection.sendall(requests[place % len(requests)])
            answer = _Answer()
            while not answer.is_complete:
                answer.take(connection.recv(_RECEIVED))
            if answer.status != 200:
                raise RuntimeError(f"The polite client was answered {answer.status}.")
            times.append(1000 * (time.perf_counter() - begin))
    raise AssertionError


class _Answer:
    """What has arrived of an answer: the body is counted, not kept."""

    def __init__(self) -> None:
        self._head = b""
        self._missing: int | None = None
        self.status = 0
        self.is_last = False

    @property
    def is_complete(self) -> bool:
        return self._missing is not None and self._missing <= 0

    def take(self, received: bytes) -> None:
        """Raises ConnectionError at the end of the connection."""
        if not received:
            raise ConnectionError("closed before the end of an answer")
        if self._missing is None:
            self._head += received
            head, end, rest = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            lines = head.lower().split(b"\r\n")
            fields = dict(line.split(b": ", 1) for line in lines[1:])
            self.status = int(lines[0].split()[1])
            self.is_last = fields.get(b"connection") == b"close"
            self._missing = int(fields.get(b"content-length", 0))
            received = rest
        self._missing -= len(received)


def _row(name: str, times: list[float]) -> dict[str, Any]:
    ordered = sorted(times)
    return {
        "name": name,
        "p50": ordered[len(ordered) // 2],
        "mean": fmean(ordered),
        "p99": ordered[len(ordered) * 99 // 100],
    }


def _print(row: dict[str, Any]) -> None:
    times = f"{row['p50']:8.2f}{row['mean']:8.2f}{row['p99']:9.2f}{row['times']:13.1f}"
    print(f"{row['name']:>26}{times}{row['greedy']:9}{row['refused']:9}{row['closed']:8}", flush=True)


def _print_medians(rows: Sequence[Mapping[str, Any]]) -> None:
    """Of the rounds, by name."""
    print(f"{'medians':>26}{'p50':>8}{'mean':>8}{'p99':>9}{'times alone':>13}")
    for name in dict.fromkeys(row["name"] for row in rows):
        p50, mean, p99, times = (
            median(row[key] for row in rows if row["name"] == name) for key in ("p50", "mean", "p99", "times")
        )
        print(f"{name:>26}{p50:8.2f}{mean:8.2f}{p99:9.2f}{times:13.1f}", flush=True)


def send_greedily(arguments: Sequence[str]) -> None:
    """The greedy client: one thread, all connections in one epoll. Prints how often it got each status."""
    port, file, connections, seconds = int(arguments[0]), Path(arguments[1]), int(arguments[2]), float(arguments[3])
    requests = list(_read(file.read_bytes()))
    answered: Counter[str] = Counter()
    poll = select.epoll()
    answers: dict[int, tuple[socket.socket, _Answer]] = {}
    place = count()

    def send(connection: socket.socket) -> None:
        connection.sendall(requests[next(place) % len(requests)])
        answers[connection.fileno()] = connection, _Answer()

    def connect() -> None:
        connection = socket.create_connection((ADDRESS, port))
        poll.register(connection.fileno(), select.EPOLLIN)
        send(connection)

    end = time.perf_counter() + seconds
    for _ in range(connections):
        connect()
    while time.perf_counter() < end:
        for number, _ in poll.poll(0.1):
            connection, answer = answers[number]
            try:
                answer.take(connection.recv(_RECEIVED))
                if answer.is_complete:
                    answered[str(answer.status)] += 1
                    if answer.is_last:
                        raise ConnectionError("closed after the answer")
                    send(connection)
            except OSError:
                answered["closed"] += not answer.is_complete
                poll.unregister(number)
                del answers[number]
                connection.close()
                connect()
    print(json.dumps(answered))


def _read(text: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(text):
        end = text.index(b"\n", position)
        length = int(text[position:end])
        yield text[end + 1 : end + 1 + length]
        position = end + 1 + length


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1].isdecimal():
        send_greedily(sys.argv[1:])
    else:
        sys.exit(main())
