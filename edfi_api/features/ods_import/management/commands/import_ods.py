"""`manage.py import_ods check|documents|clients|compare`: moving in from an Ed-Fi ODS."""

import os
import time
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Callable, Iterator
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import DatabaseError

from edfi_api.common.commands import integer, not_empty, path, text, text_of
from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.data_stores.data_store_command import ERRORS_OF_STORES, DataStoreCommand, add_tenant, needed_tenant
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, NoStoreKey
from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.served import current_surface
from edfi_api.features.loading.load_options import add_processes
from edfi_api.features.loading.provisioning import reason
from edfi_api.features.loading.reports.report import RefusalLog, add_max_refused, raise_failure, refused_in_all, table
from edfi_api.features.ods_import import comparing, passes
from edfi_api.features.ods_import.administration import (
    administration,
    has_earlier_claims,
    provision_on_server,
    security_claims,
)
from edfi_api.features.ods_import.comparing import compare
from edfi_api.features.ods_import.compatibility import ServedModel, incompatibility, queries
from edfi_api.features.ods_import.importing import (
    COLUMNS_OF_PASS,
    CONFLICT,
    PassOptions,
    PassResult,
    UnknownEndpoints,
    import_documents,
)
from edfi_api.features.ods_import.moving_clients import Moved, move_clients
from edfi_api.features.ods_import.ods_source import (
    AlreadyImporting,
    Incompatible,
    NoEarlierPass,
    SourceUnusable,
    first_of,
    opened,
)

_MOST_VERSIONS = 2**53
_MOST_CONNECTIONS = 64
_CONNECTIONS = 2


class Command(DataStoreCommand):
    """See the module."""

    error_texts = {
        SourceUnusable: lambda error: f"the source cannot be read: {printable(error.reason)}",
        Incompatible: lambda error: "\n".join(_lines_of_incompatibility(error)),
        NoEarlierPass: lambda _: "there was no pass yet: import everything first, without --since-last",
        AlreadyImporting: lambda _: "another import into this database is running",
        UnknownEndpoints: lambda error: f"the API offers no {', '.join(error.args)}",
    }
    help = (
        "Moves in from an Ed-Fi ODS on PostgreSQL. `check` says beforehand what would be lost; `documents` imports "
        "documents with their ids, times and change versions, deletes and key changes, again and again until the "
        "cutover; `clients` imports vendors, applications, clients whose secrets stay valid, profiles and claim sets; "
        "`compare` compares both sides. The source needs SELECT and nothing else. "
        "meadowlark/docs/operate/moving-in.md has the commands in their order."
    )
    takes_several = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        subparsers = parser.add_subparsers(dest="what", required=True)
        documents = subparsers.add_parser("documents", help="import documents, deletes and key changes")
        _add_source(documents)
        documents.add_argument(
            "--resource", type=text, action="append", metavar="ENDPOINT", help="only this resource; repeatable"
        )
        documents.add_argument(
            "--since-last", action="store_true", help="only what has changed in the source since the last pass began"
        )
        documents.add_argument(
            "--margin",
            type=integer(0, _MOST_VERSIONS),
            default=passes.MARGIN,
            metavar="VERSIONS",
            help=f"read so many change versions again with --since-last (default {passes.MARGIN})",
        )
        documents.add_argument(
            "--overwrite",
            action="store_true",
            help="replace documents that were changed in Meadowlark since they were imported",
        )
        documents.add_argument("--dry-run", action="store_true", help="report what would become of it, write nothing")
        documents.add_argument("--report", type=path, metavar="FILE", help="write refusals and counts as JSON")
        documents.add_argument(
            "--connections",
            type=integer(1, _MOST_CONNECTIONS),
            default=_CONNECTIONS,
            metavar="N",
            help=f"connections to the source, which share a snapshot (default {_CONNECTIONS})",
        )
        add_max_refused(documents)
        add_processes(documents)

        check = subparsers.add_parser("check", help="say what would be imported, and what would be lost")
        _add_source(check)
        _add_administration(check, is_required=False)
        add_tenant(check, "tenant whose clients they would be")
        compare = subparsers.add_parser("compare", help="compare ids and bodies on both sides")
        _add_source(compare)
        clients = subparsers.add_parser("clients", help="import vendors, applications, clients, profiles, claim sets")
        _add_administration(clients, is_required=True)
        add_tenant(clients, "tenant whose clients they are")
        clients.add_argument("--dry-run", action="store_true", help="print what would change, and change nothing")
        clients.add_argument(
            "--provision",
            nargs="?",
            const="",
            type=text,
            metavar="VARIABLE",
            help="create the databases of the data stores that ODS instances become, on the server of the control "
            "database, or on that of the connection string in this variable",
        )

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Clients are in the admin database, also where that has no documents."""
        if options.get("what") == "clients":
            options["is_chosen"] = True
        return super().execute(*args, **options)

    def handle(self, *args: Any, what: str, database: str, **options: Any) -> None:
        actions: dict[str, Callable[..., None]] = {
            "check": self._check,
            "clients": self._import_clients,
            "compare": self._compare,
            "documents": self._import_documents,
        }
        actions[what](database, **options)

    def _check(self, using: str, **options: Any) -> None:
        with opened(address(options)) as source:
            model = ServedModel.current(using)
            incompatible = incompatibility(model, source)
            known = comparing.facts(model, source, incompatible)
            self.stdout.write(printable(f"ODS/API: its tables are {known.server}"))
            self.stdout.write(printable(f"data standard {known.standard}; {', '.join(known.projects)}"))
            self.stdout.write(
                f"newest change version {known.newest_version:,}; deletes and key changes are"
                f" {'' if known.is_tracked else 'not '}recorded"
            )
            found = list(comparing.faults(model, source, incompatible))
            documents = 0
            for query in () if incompatible else queries(model, source).values():
                if number := comparing.count(source, query):
                    documents += number
                    self.stdout.write(f"{number:>12,} {query.resource.endpoint}")
        seconds, megabytes = comparing.seconds_needed(documents), comparing.bytes_needed(documents) // 2**20
        self.stdout.write(f"{documents:>12,} documents: about {seconds:,} s and {megabytes:,} MB")
        if options["admin"] or options["admin_env"]:
            moved = self._move_clients(options, is_dry_run=True)
            found += [f"lost: {line}" for line in moved.lost] + [f"left out: {line}" for line in moved.left_out]
        for line in found:
            self.stdout.write(printable(line))
        if found:
            raise CommandError(f"{counted(len(found), 'thing')} would be lost or refused")

    def _compare(self, using: str, **options: Any) -> None:
        with opened(address(options)) as source:
            chosen = list(queries(ServedModel.current(using), source).values())
            compared = []
            for found in compare(source, chosen, using):
                compared.append(found)
                for line in found.lines():
                    self.stdout.write(line)
        same, there = sum(each.same for each in compared), sum(each.there for each in compared)
        here = sum(each.here for each in compared)
        self.stdout.write(f"{there:,} documents there, {here:,} here; {same:,} are the same")
        if not all(found.is_same for found in compared):
            raise CommandError("the two sides differ")

    def _import_documents(self, using: str, **options: Any) -> None:
        started = time.monotonic()
        chosen = PassOptions(
            since_last=options["since_last"],
            endpoints=frozenset(options["resource"] or ()),
            overwrite=options["overwrite"],
            is_dry_run=options["dry_run"],
            margin=options["margin"],
            processes=options["processes"],
        )
        with (
            opened(address(options), options["connections"]) as source,
            RefusalLog(self.stderr, options["report"]) as log,
        ):
            result = import_documents(source, ServedModel.current(using), using, chosen, log)
            log.summarize(result.load, is_dry_run=chosen.is_dry_run)
        self.stdout.write("\n".join(table(result.load, COLUMNS_OF_PASS)))
        self.stdout.write("\n".join(_summary(result)))
        seconds = time.monotonic() - started
        rate = f", {result.load.sent / seconds:,.0f} documents/s" if seconds > 1 else ""
        refused = refused_in_all(result.load, options["report"] or "the list above; --report FILE has each of them")
        self.stdout.write(f"{result.load.sent:,} documents read in {seconds:.1f} s{rate}{refused}")
        if chosen.is_dry_run:
            self.stdout.write("dry run: nothing was written")
        raise_failure(result.load, 0, options["max_refused"])

    def _import_clients(self, using: str, **options: Any) -> None:
        is_dry_run = options["dry_run"]
        moved = self._move_clients(options, is_dry_run=is_dry_run)
        self.stdout.write("\n".join(map(printable, moved.changes)))
        for line in moved.notes:
            self.stdout.write(printable(f"note: {line}"))
        for line in moved.lost:
            self.stdout.write(printable(f"lost: {line}"))
        for line in moved.left_out:
            self.stdout.write(printable(f"left out: {line}"))
        for line in moved.conflicts:
            self.stdout.write(printable(f"conflict: {line}"))
        self.stdout.write(f"{counted(len(moved.changes), 'change')}{' would be made' if is_dry_run else ''}")
        if options["provision"] is None or is_dry_run:
            names = ", ".join(printable(store.name) for store in moved.to_provision)
            if names:
                self.stdout.write(f"to provision, by --provision or provision_data_store: {names}")
        else:
            for store in moved.to_provision:
                self._provision(store, options["provision"])
        if moved.lost:
            tense = "would be" if is_dry_run else "was"
            raise CommandError(f"not all {tense} imported: {counted(len(moved.lost), 'thing')} lost")

    def _provision(self, store: DataStore, variable: str) -> None:
        try:
            provision_on_server(store, environment(variable) if variable else None)
        except (ValidationError, NoStoreKey, ConnectionUnusable) as error:
            raise CommandError(f"{printable(store.name)}: {text_of(error, ERRORS_OF_STORES)}") from error
        except DatabaseError as error:
            raise CommandError(f"{printable(store.name)} is not provisioned yet: {reason(error)}") from error
        self.stdout.write(printable(f"data store {store.pk} {store.name}: {store.state}"))

    def _move_clients(self, options: dict[str, Any], *, is_dry_run: bool) -> Moved:
        tenant = needed_tenant(options)
        with opened(address(options, "admin")) as admin, opened(address(options, "security")) as security:
            found = security_claims(security)
            if has_earlier_claims(security):
                self.stdout.write("EdFi_Security is of an earlier version, which has one strategy for each action")
            moved = move_clients(administration(admin), found.claims, current_surface(), tenant, is_dry_run=is_dry_run)
        moved.lost = sorted({*found.lost, *moved.lost})
        moved.left_out = sorted({*found.left_out, *moved.left_out})
        return moved


def _summary(result: PassResult) -> Iterator[str]:
    tracked, deletes = result.tracked, result.deletes
    yield (
        f"deletes: {deletes.deleted:,} carried out, {tracked.recorded:,} of documents that were not here recorded;"
        f" {tracked.key_changes:,} key changes recorded"
    )
    if conflicts := result.load.total(CONFLICT):
        yield f"{counted(conflicts, 'document')} changed here stay as they are"
    for cause, found in (("changed here", deletes.changed_here), ("others refer to it", deletes.prevented)):
        for endpoint, document_uuid in found:
            yield f"not deleted, {cause}: {endpoint} {document_uuid}"
    if tracked.of_taken_versions:
        yield f"{tracked.of_taken_versions:,} deletes or key changes have versions of others here, and are not recorded"
    if tracked.unreadable:
        yield f"{tracked.unreadable:,} deletes or key changes have no whole key, and are not recorded"
    if result.of_unknown_owners:
        yield (
            f"{result.of_unknown_owners:,} documents there have ownership tokens of clients that are not here: import"
            " the clients and run the pass again, which gives them their owners"
        )
    if not result.has_versions:
        yield "the source counts no change versions: documents got ours, and every pass reads everything"


def _add_source(parser: ArgumentParser) -> None:
    # Also after the word, where it is looked for first.
    parser.add_argument(
        "--data-store",
        type=text,
        action="append",
        default=SUPPRESS,
        metavar="STORE",
        help="data store of the imported documents",
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--from", dest="source", type=not_empty, metavar="ADDRESS", help="connection string of the ODS")
    where.add_argument("--env", type=text, metavar="VARIABLE", help="a variable of this command that has it")


def _add_administration(parser: ArgumentParser, *, is_required: bool) -> None:
    for name, what in (("admin", "EdFi_Admin"), ("security", "EdFi_Security")):
        where = parser.add_mutually_exclusive_group(required=is_required)
        where.add_argument(f"--{name}", type=not_empty, metavar="ADDRESS", help=f"connection string of {what}")
        where.add_argument(
            f"--{name}-env", type=text, metavar="VARIABLE", help="a variable of this command that has it"
        )


def address(options: dict[str, Any], name: str = "source") -> str:
    """The connection string of the options, which is printed nowhere. Raises CommandError."""
    if options[name]:
        return str(options[name])
    variable = options["env" if name == "source" else f"{name}_env"]
    if variable is None:
        raise CommandError(f"the addresses of EdFi_Admin and EdFi_Security go together: there is no --{name}")
    return environment(variable)


def environment(variable: str) -> str:
    """The value of a variable of this command. Raises CommandError."""
    if variable not in os.environ:
        raise CommandError(f"there is no variable {printable(variable)}")
    return os.environ[variable]


def _lines_of_incompatibility(error: Incompatible) -> list[str]:
    return [
        f"the source does not have {printable(first_of(error.missing))}, which the served model needs: serve the"
        " data standard and the extensions of the source (import_ods check names them)",
        *comparing.incompatibilities(error),
    ]
