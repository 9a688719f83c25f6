"""The options of commands that call another API, and the errors that end them."""

import signal
import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from edfi_api.common.commands import ErrorTexts, path
from edfi_api.common.logs.printable import printable
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.features.exchange.remote_api import RemoteFailed, Trust
from edfi_api.features.exchange.resource_selection import NotAMapping, UnknownResources
from edfi_api.features.exchange.stored_connections import NoSuchConnection

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def add_trust(parser: ArgumentParser) -> None:
    """Add `--ca` and `--insecure`."""
    parser.add_argument("--ca", type=path, metavar="FILE", help="certificates of authorities, in place of the system's")
    parser.add_argument("--insecure", action="store_true", help="allow http:// to other hosts than this one")


def given_trust(options: dict[str, Any]) -> Trust:
    """Return what the options say."""
    return Trust(options["ca"], options["insecure"])


# Errors that keep a connection from working.
ERRORS_OF_CONNECTIONS: ErrorTexts = {
    NoSuchConnection: str,
    RemoteFailed: lambda error: printable(error.reason),
    ConnectionUnusable: lambda error: f"The connection cannot be used: {error.reason}.",
    UnknownResources: lambda error: f"The selection names what is not there: {', '.join(map(printable, error.args))}.",
    NotAMapping: lambda error: f"The descriptor mapping cannot be read. {error}",
    OSError: lambda error: f"The certificates cannot be read: {error}",
}


@contextmanager
def stop_event(*, interrupts: bool = False) -> Iterator[threading.Event]:
    """The event, which is set by either signal within the context; with `interrupts` it also raises KeyboardInterrupt,
    for work that waits in calls that know nothing of the event."""
    stop = threading.Event()

    def set_it(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        if interrupts:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, set_it) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
