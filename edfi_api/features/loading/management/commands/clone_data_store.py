"""`clone_data_store lakeside-2027 lakeside-2028 --context schoolYear=2028 --env URL --from-template`: a new year.

The new data store gets what belongs neither to a year nor to a person (organizations, courses, programs), and people
without their associations; the context of the other one, as far as `--context` does not change it; and its tenant. A
repeated run goes on where the last one failed: the data store is online when everything has been copied.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError

from edfi_api.common.commands import ReportingCommand, name, text
from edfi_api.core.data_stores.data_store_command import ERRORS_OF_STORES, add_connection
from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.models import DataStore, State
from edfi_api.core.data_stores.routing import Store, described, store_named
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.served import current_surface
from edfi_api.features.loading.exceptions import ERRORS_OF_JSON_LINES
from edfi_api.features.loading.json_lines.sources import resource_called
from edfi_api.features.loading.load_options import add_mapping, mapping_of
from edfi_api.features.loading.management.commands.provision_data_store import (
    add_creation,
    alias,
    created,
    pairs,
    stored,
)
from edfi_api.features.loading.mapping import Translator
from edfi_api.features.loading.provisioning import (
    copy_database,
    copy_documents,
    fill,
    is_on_the_same_server,
    is_the_same,
    migrate,
    of_every_year,
    other_user,
    put_online,
    reason,
    reset_copied_state,
)
from edfi_api.features.loading.reports.report import RefusalLog, counts
from edfi_api.model.surface.resource import Resource, Surface


class Command(ReportingCommand):
    """See the module."""

    error_texts = {**ERRORS_OF_JSON_LINES, **ERRORS_OF_STORES}
    help = (
        "Makes a data store with documents of another one: what belongs neither to a school year nor to a person, and "
        "people without their associations; or --resource, or --all. A repeated run goes on where the last one failed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", type=name, help="the data store to copy: id, name, or context")
        parser.add_argument("name", type=name, help="name of the new one")
        parser.add_argument("--type", type=text, default="", help="for people: Production, Sandbox")
        parser.add_argument(
            "--context", type=pairs, default={}, metavar="K=V,K=V", help="what differs: schoolYear=2028"
        )
        add_connection(parser, required=False)
        add_creation(parser)
        add_mapping(parser)
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--resource",
            type=text,
            action="append",
            metavar="ENDPOINT",
            help="only documents of this resource; repeatable",
        )
        what.add_argument("--all", action="store_true", help="every document")
        parser.add_argument(
            "--via",
            choices=["documents", "template"],
            default="documents",
            help="template: copy the database as it is, for --all on one server; which must have no other connections",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        _refuse_contradictions(options)
        mapping = mapping_of(options["mapping"])
        surface = current_surface() if mapping is None else mapping.before
        try:
            source = store_named(options["source"], read_table())
            resources = _chosen(surface, options)
            store = stored(_options_of(source, options))
            _refuse_finished(store)
            self._clone(alias_of(source.primary), store, resources, mapping, options)
        except DatabaseError as error:
            raise CommandError(f"{options['name']} is not complete yet: {reason(error)}") from error
        self.stdout.write(f"data store {store.pk} {store.name}: {store.state}, of {described(source)}")

    def _clone(
        self,
        source: str,
        store: DataStore,
        resources: list[Resource],
        mapping: Translator | None,
        options: dict[str, Any],
    ) -> None:
        using = alias(store)
        if is_the_same(source, using):
            raise CommandError("Its connection string leads to the database of the data store that is to be copied.")
        if user := other_user(using, read_table()):
            raise CommandError(f"The database of its connection string is {user}.")
        if options["via"] == "template":
            _copy_files(source, using, f"Copy for data store {store.pk} of Meadowlark")
        else:
            if created(options, using):
                self.stdout.write("database created")
            fill(using)
            with RefusalLog(self.stderr) as log:
                result = copy_documents(current_surface(), resources, source, using, log, mapping=mapping)
                log.summarize(result)
            self.stdout.write(counts(result))
        put_online(store)


def _refuse_contradictions(options: dict[str, Any]) -> None:
    if options["via"] == "template" and not options["all"]:
        raise CommandError("A database is copied as it is with --all only.")
    if options["via"] == "template" and options["mapping"]:
        raise CommandError("A database that is copied as it is has no mapping: leave out --via template.")


def _chosen(surface: Surface, options: dict[str, Any]) -> list[Resource]:
    if options["all"]:
        return list(surface.resources)
    if not options["resource"]:
        return of_every_year(surface)
    wanted = {resource_called(surface, name).name for name in options["resource"]}
    return [resource for resource in surface.resources if resource.name in wanted]


def _options_of(source: Store, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `provision_data_store`, with the context and the tenant of the source."""
    changed = {key.casefold() for key in options["context"]}
    kept = {key: value for key, value in source.context_as_written.items() if key.casefold() not in changed}
    tenant = None if source.tenant is None else source.tenant.name
    return {**options, "context": kept | options["context"], "tenant": tenant, "id": None}


def _refuse_finished(store: DataStore) -> None:
    if store.state != State.PREPARING:
        raise CommandError(f"Data store {store.pk} {store.name} exists already, and is {store.state}.")


def _copy_files(source: str, using: str, mark: str) -> None:
    if not is_on_the_same_server(source, using):
        raise CommandError("A database is copied as it is on its own server only: leave out --via template.")
    if not copy_database(source, using, mark, _finish_copy):
        raise CommandError("The database exists already, and is not a copy for this data store.")


def _finish_copy(using: str) -> None:
    migrate(using)
    reset_copied_state(using)
