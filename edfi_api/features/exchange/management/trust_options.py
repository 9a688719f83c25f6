"""The options of commands that call another API, and what stops them as CommandError."""

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.arguments import path
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


@contextmanager
def as_command_errors() -> Iterator[None]:
    """Translate what keeps a connection from working."""
    try:
        yield
    except NoSuchConnection as error:
        raise CommandError(str(error)) from error
    except RemoteFailed as error:
        raise CommandError(printable(error.reason)) from error
    except ConnectionUnusable as error:
        raise CommandError(f"The connection cannot be used: {error.reason}.") from error
    except UnknownResources as error:
        raise CommandError(
            f"The selection names what is not there: {', '.join(map(printable, error.args))}."
        ) from error
    except NotAMapping as error:
        raise CommandError(f"The descriptor mapping cannot be read. {error}") from error
    except OSError as error:
        raise CommandError(f"The certificates cannot be read: {error}") from error
