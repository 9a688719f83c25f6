"""Prepares a database to be served: migrations, descriptors, school years. A prepared one is left unchanged.

    python -m meadowlark.prepare [--wait SECONDS] [--refuse-newer] [--demo-client NAME CLAIM_SET]
        [--demo-district STUDENTS] [--demo-today DAY] [--demo-administrator NAME]

Any number of servers may run this concurrently: one prepares, the others wait for it and then find nothing to do. The
steps write their messages to standard error; standard output is one line of JSON with the demo client and the
administrator, as far as they are requested, and with the secrets of those that are new.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import date
from typing import Any

import django
from django.core.checks import WARNING
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, DatabaseError, OperationalError, connection

from edfi_api.common.commands import day, integer, seconds
from edfi_api.common.conf import api_settings
from edfi_api.common.one_process import PREPARING, exclusively
from edfi_api.features.loading.demo_district import FEWEST_STUDENTS, MOST_STUDENTS
from edfi_api.model.apischema.format import ApiSchemaError
from edfi_api.model.metaed.errors import ModelErrors
from meadowlark.run.demonstration import NewDistrict, has_reader, make_administrator, make_client
from meadowlark.serving.process import pause_garbage_collection, resume_garbage_collection

_PAUSE_SECONDS = 0.2


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m meadowlark.prepare", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--wait", type=seconds, default=0, metavar="SECONDS", help="for a database that does not answer yet"
    )
    parser.add_argument(
        "--refuse-newer", action="store_true", help="a database that a newer version has migrated is refused"
    )
    parser.add_argument(
        "--demo-client", nargs=2, metavar=("NAME", "CLAIM_SET"), help="make a client to try the API with, once"
    )
    parser.add_argument(
        "--demo-district",
        type=integer(FEWEST_STUDENTS, MOST_STUDENTS),
        metavar="STUDENTS",
        help="load a made-up district, once",
    )
    parser.add_argument(
        "--demo-today",
        type=day,
        default=date.today(),  # noqa: DTZ011  The machine's.
        metavar="DAY",
        help="the day that it is in the district",
    )
    parser.add_argument("--demo-administrator", metavar="NAME", help="make a superuser with a random password, once")
    options = parser.parse_args(arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    pause_garbage_collection()
    try:
        django.setup()
    except (ImproperlyConfigured, ValueError) as error:
        return _refuse(f"The settings cannot be used: {error}")
    try:
        wait_for_database(options.wait)
        with exclusively(PREPARING, DEFAULT_DB_ALIAS, _report_waiting):
            refuse_unusable_database(options.refuse_newer)
            prepare_database()
            _print_credentials(options)
    except (CommandError, ImproperlyConfigured, ModelErrors, ApiSchemaError) as error:
        return _refuse(str(error))
    except DatabaseError as error:
        return _refuse(f"The database cannot be used: {_in_one_line(error)}{_what_to_check()}")
    except OSError as error:
        return _refuse(f"The database was not prepared: {_in_one_line(error)}")
    return 0


def wait_for_database(seconds: float) -> None:
    """Retry for so many seconds, whatever the error: permanent and temporary ones cannot be distinguished. The first
    error is written to standard error. Raises OperationalError, the last one."""
    deadline = time.monotonic() + seconds
    error = _connection_error()
    if error and seconds:
        _report(f"Waiting up to {seconds:g} seconds for the database: {_in_one_line(error)}")
    while error and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
        error = _connection_error()
    if error:
        raise error


def refuse_unusable_database(refuse_newer: bool) -> None:
    """Raises CommandError, with a line for each reason why this version cannot serve the database, apart from missing
    migrations. A database migrated by a newer version is accepted, for upgrades, unless `refuse_newer`."""
    from edfi_api.site.checks import NEWER, database_can_be_served  # noqa: PLC0415  Needs the app registry.

    found = database_can_be_served(databases=[DEFAULT_DB_ALIAS])
    reasons = [check.msg for check in found if check.level > WARNING or (refuse_newer and check.id == NEWER)]
    if reasons:
        raise CommandError("\n".join(reasons))


def prepare_database() -> None:
    """Create tables, and what every database with documents has; each step is idempotent."""
    call_command("migrate", verbosity=0, interactive=False, skip_checks=False)
    resume_garbage_collection()
    if api_settings.has_main_store:
        from edfi_api.features.loading.provisioning import load_common_documents  # noqa: PLC0415  Needs the app registry.

        load_common_documents(DEFAULT_DB_ALIAS)
    if api_settings.MIGRATE_STORES:
        _migrate_data_stores()


def _migrate_data_stores() -> None:
    """Migrate all data stores. One that does not answer is reported, and does not keep the server from serving the
    others."""
    try:
        call_command("migrate_data_stores", stdout=sys.stderr)
    except CommandError as error:
        _report(str(error))


def _print_credentials(options: argparse.Namespace) -> None:
    """Make what is requested for a demonstration. The client is the last: where it exists, the district is loaded."""
    made: dict[str, Any] = {}
    if options.demo_administrator:
        made["administrator"] = make_administrator(options.demo_administrator)
    if options.demo_client:
        name, claim_set = options.demo_client
        district = NewDistrict(options.demo_district, options.demo_today) if options.demo_district else None
        made["client"] = make_client(name, claim_set, district)
        made["has_reader"] = district is not None and has_reader()
    if made:
        sys.stdout.write(f"{json.dumps(made)}\n")


def _connection_error() -> OperationalError | None:
    try:
        connection.ensure_connection()
    except OperationalError as error:
        return error
    return None


def _refuse(reason: str) -> int:
    _report(reason)
    return 1


def _in_one_line(error: Exception) -> str:
    """PostgreSQL and its driver add hints on further lines."""
    return " ".join(str(error).split())


def _what_to_check() -> str:
    """Return what to check of the address of a database to which there is no connection; empty for the embedded one,
    which has none."""
    if connection.connection is not None or not os.environ.get("DATABASE_URL", "").strip():
        return ""
    return " (check host, port, user, password and database in DATABASE_URL)"


def _report_waiting() -> None:
    _report("Another process is preparing this database; waiting for it.")


def _report(text: str) -> None:
    sys.stderr.write(f"{text.strip()}\n")


if __name__ == "__main__":
    sys.exit(main())
