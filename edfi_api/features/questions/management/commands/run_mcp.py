"""`manage.py run_mcp --person NAME`, or `--http 127.0.0.1:8765`"""

from argparse import ArgumentParser, ArgumentTypeError
from contextlib import suppress
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS

from edfi_api.common.commands import name
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.features.questions.people import Place

_PACKAGE = "edfi_api.features.questions"


class Command(DataStoreCommand):
    takes_several = False
    help = (
        "Serves assistants that ask the SQL views in the name of people, by the Model Context Protocol: one person "
        "over standard input and output, or many over streamable HTTP, each with a token. Needs requirements/mcp.lock."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        how = parser.add_mutually_exclusive_group(required=True)
        how.add_argument(
            "--person", type=name, metavar="NAME", help="the reader of questions who asks over this process"
        )
        how.add_argument("--http", type=name, metavar="HOST:PORT", help="where to listen, such as 127.0.0.1:8765")
        parser.add_argument("--url", type=_url, help="the address behind a proxy, such as https://ask.example.org/mcp")

    def handle(
        self, *args: Any, database: str, person: str | None, http: str | None, url: str | None, **options: Any
    ) -> None:
        place = Place(database, _data_store(database))
        try:
            served = import_module(f"{_PACKAGE}.{'server' if person else 'http'}")
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("edfi_api"):
                raise
            raise CommandError(
                "run_mcp needs the SDK of the protocol: pip install --require-hashes -r requirements/mcp.lock"
            ) from error
        if person is not None:
            reader = place.readers.filter(name=person).first()
            if reader is None:
                raise CommandError(f"{person} may not ask: the admin has a page of readers of questions")
            served.serve_stdio(place, reader.pk)
            return
        host, port = _listening_address(str(http))
        served.serve_http(place, host, port, url or f"http://{http}{served.PATH}")


def _listening_address(text: str) -> tuple[str, int]:
    """Return host and port."""
    with suppress(ValueError):
        parts = urlsplit(f"//{text}")
        if parts.netloc == text and parts.hostname and parts.port is not None:
            return parts.hostname, parts.port
    raise CommandError(f"{text} is not an address such as 127.0.0.1:8765")


def _url(text: str) -> str:
    """The type of an argument that is the address of a web server."""
    with suppress(ValueError):
        parts = urlsplit(name(text))
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return text
    raise ArgumentTypeError(f"{text!r} is not an address such as https://ask.example.org/mcp")


def _data_store(database: str) -> int:
    """The id of the data store with this database, 0 for the admin database."""
    if database == DEFAULT_DB_ALIAS:
        return 0
    return next(store.id for store in read_table().stores.values() if store.primary.alias == database)
