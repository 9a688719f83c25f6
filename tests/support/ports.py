"""Ports of this machine, for servers that tests and benchmarks start."""

import socket

ADDRESS = "127.0.0.1"


def free_port() -> int:
    """A port without a listener at the moment."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


def is_answering(port: int) -> bool:
    """Whether the port accepts connections."""
    with socket.socket() as probe:
        return probe.connect_ex((ADDRESS, port)) == 0
