"""The database that all processes of a test run copy theirs from: migrating takes as long as hundreds of tests."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connections


@contextmanager
def template_database(folder: Path) -> Iterator[str]:
    """Its name. The first of the processes that share the folder makes it, and the first that ends removes it: by then
    the others have their copies, or make it again."""
    name, made = f"template_{os.environ['PYTEST_XDIST_TESTRUNUID']}", folder / "template_database"
    with _alone(folder):
        if not made.exists():
            _migrate(name)
            made.touch()
    yield name
    with _alone(folder), connections[DEFAULT_DB_ALIAS]._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}"')
        made.unlink(missing_ok=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "template_database.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _migrate(name: str) -> None:
    connection = connections[DEFAULT_DB_ALIAS]
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{name}"')
    of_tests = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        call_command("migrate", verbosity=0, interactive=False)
    finally:
        connection.close()
        connection.settings_dict["NAME"] = of_tests
