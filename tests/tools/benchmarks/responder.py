"""A minimal server that measures the load generator: any received bytes get a fixed answer."""

import contextlib
import multiprocessing
import select
import socket
from collections.abc import Iterator

from tests.support.server_processes import ADDRESS

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 700\r\n\r\n" + b"x" * 700


@contextlib.contextmanager
def trivial_responder() -> Iterator[int]:
    """Runs until the end of the context; yields the port."""
    with socket.create_server((ADDRESS, 0), backlog=64) as listener:
        process = multiprocessing.get_context("fork").Process(target=_respond, args=(listener,), daemon=True)
        process.start()
        try:
            yield listener.getsockname()[1]
        finally:
            process.kill()
            process.join()


def _respond(listener: socket.socket) -> None:
    connections: dict[int, socket.socket] = {}
    poll = select.epoll()
    poll.register(listener, select.EPOLLIN)
    while True:
        for number, _ in poll.poll():
            if number == listener.fileno():
                connection, _ = listener.accept()
                connections[connection.fileno()] = connection
                poll.register(connection, select.EPOLLIN)
            else:
                _answer(connections, number)


def _answer(connections: dict[int, socket.socket], number: int) -> None:
    try:
        if connections[number].recv(65536):
            connections[number].sendall(_ANSWER)
            return
    except ConnectionError:
        pass  # The generator may end in the middle of a request.
    connections.pop(number).close()
