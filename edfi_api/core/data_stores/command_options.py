"""Options of commands for the connection string of a data store, and the text of its refusal."""

import os
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from edfi_api.common.arguments import name, text
from edfi_api.common.commands import ErrorTexts
from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.connection_strings import MAIN
from edfi_api.core.data_stores.databases import allowed_destination
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, NoStoreKey
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.named import NoSuchDataStore
from edfi_api.core.data_stores.stores import tenant_named


def add_connection(parser: ArgumentParser, *, required: bool) -> None:
    """Add the options for a connection string."""
    where = parser.add_mutually_exclusive_group(required=required)
    where.add_argument("--url", type=text, help="connection string of its database, which process lists show")
    where.add_argument(
        "--env", type=text, metavar="VARIABLE", help="a variable of this command that has its connection string"
    )


def given_connection(options: dict[str, Any]) -> str | None:
    """The connection string, if one is given; read, so that a mistake is refused before anything is stored."""
    given: str | None = options["url"]
    if options["env"]:
        given = os.environ.get(options["env"], "")
        if not given:
            raise CommandError(f"The variable {options['env']} is not set.")
    if given is not None and given != MAIN:
        allowed_destination(given)
    return given


# Why a data store, or the connection string that is given for it, cannot be used.
ERRORS_OF_STORES: ErrorTexts = {
    NoSuchDataStore: str,
    ValidationError: lambda error: " ".join(error.messages),
    NoStoreKey: lambda _: (
        "Set MEADOWLARK_SECRET_KEY or MEADOWLARK_STORE_KEY: without a lasting key, a connection string that is "
        "stored could not be read again."
    ),
    ConnectionUnusable: lambda error: f"The connection string cannot be used: {error.reason}.",
}


def add_tenant(parser: ArgumentParser, help: str) -> None:
    """Add `--tenant`."""
    parser.add_argument("--tenant", type=name, metavar="TENANT", help=help)


def given_tenant(options: dict[str, Any]) -> Tenant | None:
    """The tenant of the option. Raises CommandError if there is none of this name."""
    if options["tenant"] is None:
        return None
    found = tenant_named(options["tenant"])
    if found is None:
        raise CommandError(f'There is no tenant "{options["tenant"]}"; there are: {_known()}.')
    return found


def needed_tenant(options: dict[str, Any]) -> Tenant | None:
    """Return the tenant of the options. On a server with tenants raises CommandError if they name none."""
    tenant = given_tenant(options)
    if tenant is None and api_settings.MULTI_TENANCY:
        raise CommandError(f"Say whose: --tenant. There are: {_known()}.")
    return tenant


_MOST_LISTED = 20


def _known() -> str:
    names = list(Tenant.objects.values_list("name", flat=True)[: _MOST_LISTED + 1])
    return ", ".join(names[:_MOST_LISTED] + ["..."] * (len(names) > _MOST_LISTED)) or "none"
