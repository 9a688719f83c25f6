"""How long connections have been silent. Those that have been longest are closed before the engine has as many as it
accepts.

The engine closes silent connections by time alone; at its limit, new ones would wait until then. Only Linux reports how
long a connection has been silent.
"""

import os
import socket
import struct
from collections.abc import Iterable, Iterator, Set
from contextlib import suppress

# The milliseconds since data was last sent and received, in Linux's struct tcp_info.
_TCP_INFO = struct.Struct("44xI4xI")


def close_longest_silent(ports: Set[int], most: int, busy: Set[str]) -> int:
    """Closes connections beyond `most` to these local ports, as far as their clients (ADDRESS:PORT) are not busy;
    returns how many. A client that has sent only a part of its request is not busy."""
    files = _open_files()
    if len(files) <= most:
        return 0
    connections = list(_connections(files, ports))
    idle = [each for each in connections if each[1] not in busy]
    surplus = sorted(idle, reverse=True)[: max(0, len(connections) - most)]
    for _, client, number in surplus:
        # The engine may have closed this one, and given the number to another.
        with suppress(OSError), _duplicate(number) as connection:
            if _client(connection) == client:
                connection.shutdown(socket.SHUT_RDWR)
    return len(surplus)


def have_been_silent(ports: Set[int], seconds: float) -> bool:
    """Whether all connections to these local ports have been open for so long and silent, as far as it can be seen."""
    files = _open_files()
    return bool(files) and all(silence >= 1000 * seconds for silence, _, _ in _connections(files, ports))


def _connections(files: Iterable[int], ports: Set[int]) -> Iterator[tuple[int, str, int]]:
    """The milliseconds for which each has been silent, its client, and its file."""
    for number in files:
        with suppress(OSError), _duplicate(number) as connection:
            if _local_port(connection) in ports:
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
                yield min(_TCP_INFO.unpack(info)), _client(connection), number


def _open_files() -> list[int]:
    try:
        with os.scandir("/proc/self/fd") as entries:
            return [int(entry.name) for entry in entries]
    except FileNotFoundError:
        return []


def _duplicate(number: int) -> socket.socket:
    """Raises OSError for files that are no sockets; so does asking a listener for its client."""
    duplicate = os.dup(number)
    try:
        return socket.socket(fileno=duplicate)
    except OSError:
        os.close(duplicate)
        raise


def _local_port(connection: socket.socket) -> int | None:
    return connection.getsockname()[1] if connection.family in (socket.AF_INET, socket.AF_INET6) else None


def _client(connection: socket.socket) -> str:
    host, port = connection.getpeername()[:2]
    return f"[{host}]:{port}" if connection.family == socket.AF_INET6 else f"{host}:{port}"
