"""`manage.py` with an unusable database or setting: an error of one line, without a traceback."""

import gc
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.management import ManagementUtility

from meadowlark.run import embedded_postgres
from tests.site.commands.conftest import Run

_TOP = Path(__file__).parents[3]


def run_with(database_url: str, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"DATABASE_URL": database_url} | settings
    return subprocess.run(
        [sys.executable, "manage.py", *command], cwd=_TOP, env=environment, capture_output=True, text=True, check=False
    )


def test_an_unreachable_database_is_reported() -> None:
    ended = run_with("postgresql://nobody@127.0.0.1:1/nothing", "verify_integrity")

    assert ended.returncode == 1
    assert ended.stderr.startswith("The database cannot be used: connection failed: ")
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("command", ["export_documents", "verify_integrity"])
def test_a_database_without_tables_is_reported(command: str) -> None:
    server = os.environ.get("DATABASE_URL") or embedded_postgres.url(embedded_postgres.default_home())

    ended = run_with(urlsplit(server)._replace(path="/postgres").geturl(), command)

    assert ended.returncode == 1
    assert ended.stderr.startswith("The database lacks what this version needs: relation ")
    assert ended.stderr.endswith("Has `manage.py migrate` been run?\n")


def test_a_setting_that_is_no_number_is_reported() -> None:
    ended = run_with("", "check", MEADOWLARK_MAX_PAGE_SIZE="many")

    assert ended.returncode == 1
    assert ended.stderr == "MEADOWLARK_MAX_PAGE_SIZE is 'many'; it must be a whole number.\n"


def test_garbage_is_collected_by_the_command_and_not_while_it_is_imported(
    db: None, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Importing a command takes a fourth longer with collections."""
    fetch, during_import = ManagementUtility.fetch_command, []

    def record(self: ManagementUtility, name: str):
        during_import.append(gc.isenabled())
        return fetch(self, name)

    monkeypatch.setattr(ManagementUtility, "fetch_command", record)

    run("list_profiles")
    assert gc.isenabled()
    run("no_such_command")
    assert gc.isenabled()

    assert during_import == [False, False]
