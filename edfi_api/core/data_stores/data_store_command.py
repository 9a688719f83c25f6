"""The base of commands about documents: which database they work on.

Without an option it is the admin database, where that has documents. `--data-store` names data stores, of which
several are worked on in processes, `--parallel` at a time.
"""

import os
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass
from io import StringIO
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser, OutputWrapper
from django.db import DEFAULT_DB_ALIAS, connections
from tqdm import tqdm

from edfi_api.common.commands import ErrorTexts, ReportingCommand, integer, name, text
from edfi_api.common.conf import api_settings
from edfi_api.common.processes import process_pool
from edfi_api.core.data_stores.connection_strings import MAIN
from edfi_api.core.data_stores.databases import alias_of, allowed_destination
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, NoStoreKey
from edfi_api.core.data_stores.models import State, Tenant
from edfi_api.core.data_stores.routing import NoSuchDataStore, Store, described, stores_named
from edfi_api.core.data_stores.routing_cache import read_table
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


_MOST_PROCESSES = 64


class DataStoreCommand(ReportingCommand):
    """Calls `handle` with `database`, the alias, once for each data store. With several, each runs in a process of its
    own, all are tried, and the exit status is 1 if one failed."""

    # For `call_command`: an alias, in place of the options, and whether it may be that of the admin database on a
    # server whose documents are all in data stores.
    stealth_options = ("database", "is_chosen")
    # Whether it can run for several data stores at a time.
    takes_several = True
    # Whether it goes through several data stores by itself, in `handle_all`, instead of running in a process for each.
    in_one_process = False

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **options)
        _add_options(parser, self.takes_several)
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        named, wants_all = options.pop("data_store", None), options.pop("all_data_stores", False)
        parallel = options.pop("parallel", 1)
        if not named and not wants_all:
            if not options.pop("is_chosen", False):
                _refuse_without_default_store(options, self.takes_several)
            return super().execute(*args, **{"database": DEFAULT_DB_ALIAS, **options})
        stores = _chosen(named or [], wants_all)
        if self.in_one_process and (wants_all or len(stores) > 1):
            with self.report_errors():
                self.handle_all(lambda: _chosen(named or [], wants_all), **options)
            return None
        if len(stores) > 1:
            self._run_all(stores, options, parallel)
            return None
        options["database"] = _alias(stores[0])
        return super().execute(*args, **options)

    def handle_all(self, choose: Callable[[], list[Store]], **options: Any) -> None:
        """Do the work of `handle` for the data stores that `choose` returns. Needed with `in_one_process`."""
        raise NotImplementedError

    def options_for(self, store: Store, options: dict[str, Any]) -> dict[str, Any]:
        """The options of one of several data stores."""
        return options

    def _run_all(self, stores: Sequence[Store], options: dict[str, Any], parallel: int) -> None:
        if not self.takes_several:
            raise CommandError("It takes one data store at a time.")
        for stream in ("stdout", "stderr"):  # As Django's `execute` does.
            if options.get(stream):
                setattr(self, stream, OutputWrapper(options[stream]))
        failed = []
        with process_pool(min(parallel, len(stores))) as pool:
            jobs = {pool.submit(_run, _Job.of(self, store, options)): store for store in stores}
            for job in tqdm(as_completed(jobs), total=len(jobs), unit=" data stores", disable=None):
                store = jobs[job]
                if not self._report(store, job):
                    failed.append(described(store))
        if failed:
            raise CommandError(f"failed for {len(failed)} of {len(stores)} data stores: {'; '.join(sorted(failed))}")

    def _report(self, store: Store, job: "Future[_Done]") -> bool:
        done = job.result()
        name = described(store)
        for line in done.out.splitlines():
            self.stdout.write(f"{name}: {line}")
        for line in [*done.err.splitlines(), *([done.failure] if done.failure else [])]:
            self.stderr.write(f"{name}: {line}")
        self.stdout.write(f"{name}: {'failed' if done.failure else 'done'}")
        return not done.failure


@dataclass(frozen=True)
class _Job:
    """A command for one data store, for another process, which has not registered its database."""

    command: type[DataStoreCommand]
    options: dict[str, Any]
    alias: str
    databases: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, command: DataStoreCommand, store: Store, options: dict[str, Any]) -> "_Job":
        alias = _alias(store)
        databases = {name: connections.settings[name] for name in {DEFAULT_DB_ALIAS, alias}}
        return cls(type(command), command.options_for(store, _plain(options)), alias, databases)


@dataclass(frozen=True)
class _Done:
    out: str
    err: str
    failure: str


def _run(job: _Job) -> _Done:
    connections.settings.update(job.databases)
    out, err = StringIO(), StringIO()
    failure = ""
    try:
        command = job.command(stdout=out, stderr=err, no_color=True)
        with command.report_errors():
            command.handle(**job.options, database=job.alias)
    except Exception as error:
        failure = " ".join(str(error).split()) or type(error).__name__
    finally:
        connections.close_all()
    return _Done(out.getvalue(), err.getvalue(), failure)


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options without streams, which cannot be handed to another process."""
    return {name: value for name, value in options.items() if name not in ("stdout", "stderr", "database")}


def _add_options(parser: ArgumentParser, takes_several: bool) -> None:
    where = "id, name, or context: districtId=4410,schoolYear=2027" + ("; repeatable" if takes_several else "")
    parser.add_argument("--data-store", type=text, action="append", metavar="STORE", help=where)
    if takes_several:
        parser.add_argument("--all-data-stores", action="store_true", help="every data store that is online")
        parser.add_argument(
            "--parallel",
            type=integer(1, _MOST_PROCESSES),
            default=4,
            metavar="N",
            help="how many data stores are worked on at a time (default 4)",
        )


def _refuse_without_default_store(options: dict[str, Any], takes_several: bool) -> None:
    if api_settings.has_main_store or options.get("database", DEFAULT_DB_ALIAS) != DEFAULT_DB_ALIAS:
        return
    there_are = ", ".join(described(store) for store in read_table().stores.values()) or "none"
    several = ", or --all-data-stores" if takes_several else ""
    raise CommandError(f"Say which: --data-store{several}. There are: {there_are}.")


def _chosen(named: Sequence[str], wants_all: bool) -> list[Store]:
    table = read_table()
    if wants_all and named:
        raise CommandError("--data-store and --all-data-stores exclude each other.")
    if wants_all:
        online = [store for store in table.stores.values() if store.state is State.ONLINE]
        if not online:
            raise CommandError("No data store is online.")
        return online
    try:
        return stores_named(named, table)
    except NoSuchDataStore as error:
        raise CommandError(str(error)) from error


def _alias(store: Store) -> str:
    try:
        return alias_of(store.primary)
    except ConnectionUnusable as error:
        raise CommandError(f"The connection string of {described(store)} cannot be used: {error.reason}.") from error
