"""The options of commands that call another API, and the errors that end them."""

from argparse import ArgumentParser
from typing import Any

from edfi_api.common.arguments import path
from edfi_api.common.commands import ErrorTexts
from edfi_api.common.logs.printable import printable
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.features.exchange.mapping import NotAMapping
from edfi_api.features.exchange.remote_api import RemoteFailed, Trust
from edfi_api.features.exchange.resource_selection import UnknownResources
from edfi_api.features.exchange.stored_connections import NoSuchConnection


def add_trust(parser: ArgumentParser) -> None:
    """Add `--ca` and `--insecure`."""
    parser.add_argument("--ca", type=path, metavar="FILE", help="certificates of authorities, in place of the system's")
    parser.add_argument("--insecure", action="store_true", help="allow http:// to other hosts than this one")


def given_trust(options: dict[str, Any]) -> Trust:
    """What the options say."""
    return Trust(options["ca"], options["insecure"])


# What keeps a connection from working.
ERRORS_OF_CONNECTIONS: ErrorTexts = {
    NoSuchConnection: str,
    RemoteFailed: lambda error: printable(error.reason),
    ConnectionUnusable: lambda error: f"The connection cannot be used: {error.reason}.",
    UnknownResources: lambda error: f"The selection names what is not there: {', '.join(map(printable, error.args))}.",
    NotAMapping: lambda error: f"The descriptor mapping cannot be read. {error}",
    OSError: lambda error: f"The certificates cannot be read: {error}",
}
