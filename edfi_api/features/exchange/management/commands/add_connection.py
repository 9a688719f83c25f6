"""`add_connection NAME pull|push ADDRESS --key KEY --client CLIENT`: store a connection to another API.

The secret comes from standard input, or from a variable of the command: an argument could be seen by other users of the
machine.
"""

import getpass
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from edfi_api.common.commands import ReportingCommand, integer, name, path, text
from edfi_api.common.logs.printable import printable
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, NoStoreKey
from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.data_stores.routing import NoSuchDataStore, store_named
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.security.clients import COMMAND
from edfi_api.core.security.management.named_client import client_named
from edfi_api.features.exchange.models import Connection, ExchangeDirection
from edfi_api.features.exchange.resource_selection import SelectionMode
from edfi_api.features.exchange.stored_connections import store_connection

_MOST_ORGANIZATION = 2**63 - 1
_MOST_REQUESTS = 10_000


def _in_one_line(error: ValidationError) -> str:
    return (
        "; ".join(f"{name.replace('_', ' ')}: {' '.join(said)}" for name, said in error.message_dict.items())
        if (hasattr(error, "error_dict"))
        else " ".join(error.messages)
    )


class Command(ReportingCommand):
    """See the module."""

    error_texts = {
        NoSuchDataStore: str,
        ValidationError: _in_one_line,
        NoStoreKey: lambda _: "Set MEADOWLARK_SECRET_KEY or MEADOWLARK_STORE_KEY first.",
        ConnectionUnusable: lambda error: error.reason,
    }
    help = (
        "Stores a connection to another Ed-Fi API. Its secret is read from standard input, or from the variable that "
        "--secret-env names."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=name, help="name of the connection: letters, digits, _ and -")
        parser.add_argument(
            "direction", choices=ExchangeDirection.values, help="documents come from there, or go there"
        )
        parser.add_argument("address", type=name, help="address of the other API, where its discovery is")
        parser.add_argument("--key", type=name, required=True, help="key of our client there")
        parser.add_argument(
            "--secret-env", type=name, metavar="VARIABLE", help="a variable of this command with the secret"
        )
        parser.add_argument(
            "--client",
            type=name,
            required=True,
            help="key or name of the API client here that owns what is pulled, or reads what is pushed",
        )
        parser.add_argument("--data-store", type=text, metavar="STORE", help="data store of the documents")
        parser.add_argument(
            "--token-address", type=text, default="", help="where tokens come from, unless discovery says"
        )
        parser.add_argument(
            "--scope",
            type=integer(1, _MOST_ORGANIZATION),
            metavar="ID",
            help="education organization to which tokens are limited",
        )
        parser.add_argument("--school-year", type=integer(1900, 2999), metavar="YEAR", help="year in its addresses")
        parser.add_argument("--read-profile", type=text, default="", metavar="NAME", help="API profile to read with")
        parser.add_argument("--write-profile", type=text, default="", metavar="NAME", help="API profile to write with")
        parser.add_argument(
            "--selection", choices=[mode.value for mode in SelectionMode], default="all", help="see --resource"
        )
        parser.add_argument(
            "--resource",
            type=text,
            action="append",
            default=[],
            metavar="PATH",
            help="ed-fi/students, for the selection; repeatable",
        )
        parser.add_argument("--without-descriptors", action="store_true", help="descriptors do not pass")
        parser.add_argument(
            "--education-organization-id",
            type=integer(1, _MOST_ORGANIZATION),
            action="append",
            default=[],
            metavar="ID",
            help="only what a client of it could read is pushed; repeatable",
        )
        parser.add_argument(
            "--descriptor-mapping", type=path, metavar="FILE", help="CSV: URI there, URI here, of each descriptor"
        )
        parser.add_argument(
            "--requests-per-second",
            type=integer(1, _MOST_REQUESTS),
            metavar="N",
            help="requests to the other API in a second at most; default: any number",
        )
        parser.add_argument("--enable", action="store_true", help="let run_exchange follow it")

    def handle(self, **options: Any) -> None:
        connection = Connection(
            name=options["name"],
            direction=options["direction"],
            address=options["address"],
            token_address=options["token_address"],
            key=options["key"],
            scope=options["scope"],
            school_year=options["school_year"],
            read_profile=options["read_profile"],
            write_profile=options["write_profile"],
            selection=options["selection"],
            resources=options["resource"],
            with_descriptors=not options["without_descriptors"],
            education_organization_ids=options["education_organization_id"],
            descriptor_mapping=_text_of(options["descriptor_mapping"]),
            data_store=_data_store(options["data_store"]),
            api_client=client_named(options["client"]),
            requests_per_second=options["requests_per_second"],
            is_enabled=options["enable"],
        )
        store_connection(connection, _secret(options["secret_env"]), COMMAND)
        self.stdout.write(f"{connection} added; check_connection {connection} tries it")


def _secret(variable: str | None) -> str:
    if variable is not None:
        if not (secret := os.environ.get(variable, "")):
            raise CommandError(f"The variable {variable} is not set.")
        return secret
    secret = getpass.getpass("Secret: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    if not secret:
        raise CommandError("The secret is read from standard input, where there is none.")
    return secret


def _text_of(file: Path | None) -> str:
    try:
        return "" if file is None else file.read_text()
    except (OSError, ValueError) as error:
        raise CommandError(f"{printable(str(file))} cannot be read.") from error


def _data_store(named: str | None) -> DataStore | None:
    return None if named is None else DataStore.objects.get(pk=store_named(named, read_table()).id)
