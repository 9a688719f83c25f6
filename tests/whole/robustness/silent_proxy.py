"""A TCP address of an embedded PostgreSQL, which can fall silent as a server that hangs does."""

import socket
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Self

from tests.support.ports import ADDRESS


class SilentProxy:
    """Passes connections on to the server's Unix socket. While it is silent it accepts connections and takes what is
    sent, but passes nothing on."""

    def __init__(self, unix_socket: Path) -> None:
        self._unix_socket = unix_socket
        self._is_passing_on = Event()
        self._is_passing_on.set()
        self._listener = socket.create_server((ADDRESS, 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._is_passing_on.set()

    def fall_silent(self) -> None:
        self._is_passing_on.clear()

    def answer_again(self) -> None:
        self._is_passing_on.set()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._unix_socket))
                for source, target in ((client, server), (server, client)):
                    Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._is_passing_on.wait()
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)
