"""Makes an empty database ready to be served, and leaves one that is ready as it is.

    python -m meadowlark.prepare [--wait SECONDS] [--refuse-newer] [--demo-client NAME CLAIM_SET]

Any number of servers may do so at once: one prepares, the others wait for it and find nothing left to do. What the
steps tell goes to standard error; standard output is one line of JSON about the demo client, if asked for.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import django
from django.core.checks import WARNING
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, DatabaseError, OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from edfi_api.apischema.errors import ApiSchemaError
from edfi_api.arguments import seconds
from edfi_api.metaed import ModelErrors
from edfi_api.surface.resource import ResourceKind

# "mdwlark" in ASCII: the advisory lock of a database that is being prepared.
PREPARING = 0x6D64776C61726B
_PAUSE_SECONDS = 0.2


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the module's text."""
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
    options = parser.parse_args(arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    try:
        django.setup()
    except (ImproperlyConfigured, ValueError) as error:
        return _refuse(f"The settings cannot be used: {error}")
    try:
        wait_for_database(options.wait)
        with _alone():
            refuse_unusable_database(options.refuse_newer)
            prepare_database()
            if options.demo_client:
                make_demo_client(*options.demo_client)
    except (CommandError, ImproperlyConfigured, ModelErrors, ApiSchemaError) as error:
        return _refuse(str(error))
    except DatabaseError as error:
        return _refuse(f"The database cannot be used: {_in_one_line(error)}")
    except OSError as error:
        return _refuse(f"The database was not prepared: {_in_one_line(error)}")
    return 0


def wait_for_database(seconds: float) -> None:
    """Whatever keeps us from connecting: the reasons cannot be told apart, so the first one is told while we wait."""
    deadline = time.monotonic() + seconds
    error = _connection_error()
    if error and seconds:
        _tell(f"Waiting up to {seconds:g} seconds for the database: {_in_one_line(error)}")
    while error and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
        error = _connection_error()
    if error:
        raise error


def refuse_unusable_database(refuse_newer: bool) -> None:
    """CommandError with a line for each reason why this version cannot serve the database, other than that it lacks
    migrations. One that a newer version has migrated may be served during an upgrade."""
    from edfi_api.database_checks import NEWER, database_can_be_served  # noqa: PLC0415  Their app has to be ready.

    found = database_can_be_served(databases=[DEFAULT_DB_ALIAS])
    reasons = [check.msg for check in found if check.level > WARNING or (refuse_newer and check.id == NEWER)]
    if reasons:
        raise CommandError("\n".join(reasons))


def prepare_database() -> None:
    """Tables, descriptors and school years; each step does only what is still missing."""
    call_command("migrate", verbosity=0, interactive=False, skip_checks=False)
    call_command("load_descriptors", stdout=sys.stderr)
    if not _has_school_years():
        call_command("load_school_years", "1990-2040", "--current", "2026", stdout=sys.stderr)


def make_demo_client(name: str, claim_set: str) -> None:
    """Its key and secret on standard output; no secret when it was there already."""
    call_command("create_api_client", name, "--claim-set", claim_set, "--if-exists", "keep", "--format", "json")


def _connection_error() -> OperationalError | None:
    try:
        connection.ensure_connection()
    except OperationalError as error:
        return error
    return None


@contextmanager
def _alone() -> Iterator[None]:
    """Nobody else prepares this database inside.

    The lock is held by an open transaction of a connection of its own: it ends with the connection, so a killed process
    leaves none, and a pooler that lends connections by the transaction cannot lend this one to somebody else.
    """
    guard = connections.create_connection(DEFAULT_DB_ALIAS)
    try:
        guard.set_autocommit(False)
        if not _is_lock_ours(guard):
            _tell("Another process is preparing this database; waiting for it.")
            # Asked again and again: a statement that waits for the lock would hold up a migration that builds an index
            # concurrently, which waits for all statements to end.
            while not _is_lock_ours(guard):
                time.sleep(_PAUSE_SECONDS)
        yield
    finally:
        guard.close()
        connection.close()


def _is_lock_ours(guard: BaseDatabaseWrapper) -> bool:
    guard.rollback()
    with guard.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [PREPARING])
        return cursor.fetchone()[0]


def _has_school_years() -> bool:
    """Then somebody may have chosen another current one, which a restart must not undo."""
    from edfi_api.models import Document  # noqa: PLC0415  Models can be imported after django.setup() alone.
    from edfi_api.startup import current_surface  # noqa: PLC0415

    resources = current_surface().resources
    names = [resource.name.resource for resource in resources if resource.kind is ResourceKind.SCHOOL_YEAR]
    return Document.objects.filter(resource_type__name__in=names).exists()


def _refuse(reason: str) -> int:
    _tell(reason)
    return 1


def _in_one_line(error: Exception) -> str:
    """PostgreSQL and its driver add hints and advice in lines of their own."""
    return " ".join(str(error).split())


def _tell(text: str) -> None:
    sys.stderr.write(f"{text.strip()}\n")


if __name__ == "__main__":
    sys.exit(main())
