"""`provision_data_store NAME --context schoolYear=2027 --url postgresql://... --create-database`

Stores a data store and makes its database: tables, descriptors, school years. A repeated run goes on where the last one
failed; with `--id` it makes the database of a data store that exists already.
"""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError

from edfi_api.common.commands import ReportingCommand, integer, name, text
from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.data_store_command import (
    ERRORS_OF_STORES,
    add_connection,
    add_tenant,
    given_connection,
    given_tenant,
    needed_tenant,
)
from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.data_stores.stores import check_qualifiers, create_data_store, set_connection
from edfi_api.features.loading.provisioning import (
    create_database,
    create_from_template,
    fill,
    provision,
    reason,
)

_LAST_ID = 2**63 - 1


class Command(ReportingCommand):
    """See the module."""

    error_texts = ERRORS_OF_STORES
    help = (
        "Makes a data store and its database: tables, descriptors and school years; then it is online. A repeated run "
        "goes on where the last one failed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=name, help="name of the data store")
        add_tenant(parser, "tenant whose data store it is")
        parser.add_argument("--type", type=text, default="", help="for people: Production, Sandbox")
        parser.add_argument(
            "--context", type=pairs, default={}, metavar="K=V,K=V", help="districtId=4410,schoolYear=2027"
        )
        add_connection(parser, required=False)
        add_creation(parser)
        parser.add_argument("--id", type=integer(1, _LAST_ID), metavar="ID", help="of a data store that exists already")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            store = stored(options)
            using = alias(store)
            if created(options, using):
                self.stdout.write("database created")
            provision(store, using)
        except DatabaseError as error:
            raise CommandError(f"{options['name']} is not provisioned yet: {reason(error)}") from error
        self.stdout.write(f"data store {store.pk} {store.name}: {store.state}")


def add_creation(parser: ArgumentParser) -> None:
    """Add the options for creating the database."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--create-database", action="store_true", help="create the database, unless it exists")
    how.add_argument(
        "--from-template",
        action="store_true",
        help="the same, quickly: as a copy of a prepared database, which is made once on its server",
    )


def created(options: dict[str, Any], using: str) -> bool:
    """Return whether the database was created, as the options say."""
    if options["from_template"]:
        return create_from_template(using, fill)
    return options["create_database"] and create_database(using)


def pairs(given: str) -> dict[str, str]:
    """`districtId=4410,schoolYear=2027`"""
    found: dict[str, str] = {}
    for pair in filter(None, text(given).split(",")):
        key, separator, value = pair.partition("=")
        if not separator or not key.strip() or not value.strip():
            raise ArgumentTypeError(f"{pair!r} is not of the form schoolYear=2027")
        found[key.strip()] = value.strip()
    return found


def stored(options: dict[str, Any]) -> DataStore:
    """The data store of this id or name, or a new one. Raises ValidationError, NoStoreKey and ConnectionUnusable."""
    connection = given_connection(options)
    check_qualifiers(options["context"], api_settings.ROUTE_QUALIFIERS)
    tenant = needed_tenant(options) if options["id"] is None else given_tenant(options)
    by = {"pk": options["id"]} if options["id"] else {"name": options["name"], "tenant": tenant}
    found = list(DataStore.objects.filter(**by)[:2])
    if len(found) > 1:
        raise CommandError(f'Several data stores have the name "{options["name"]}": say which with --id.')
    if options["id"] and not found:
        raise CommandError(f"There is no data store {options['id']}.")
    if not found:
        return create_data_store(
            options["name"],
            type=options["type"],
            context=options["context"],
            connection=connection,
            tenant=tenant,
        )
    if connection is not None:
        set_connection(found[0], connection)
    return found[0]


def alias(store: DataStore) -> str:
    """The alias of its database. Raises ConnectionUnusable."""
    return alias_of(read_table().stores[store.pk].primary)
