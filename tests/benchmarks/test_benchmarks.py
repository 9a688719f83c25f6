"""No benchmark reports figures over wrong data."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from meadowlark.embedded_postgres import EmbeddedPostgres
from tests.benchmarks.database import bare_statement, copied_students, remove_rows_of_bare_statement
from tests.benchmarks.verification import verify

TOP = Path(__file__).parents[2]
# The load generator is started by benchmarks and opens no database.
NO_BENCHMARK = {"load.py", Path(__file__).name}
PROGRAMS = [
    path
    for path in (TOP / "tests/benchmarks").glob("*.py")
    if '__name__ == "__main__"' in path.read_text() and path.name not in NO_BENCHMARK
]


@pytest.fixture(scope="module")
def database_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database of its own with a school in it."""
    with EmbeddedPostgres(tmp_path_factory.mktemp("benchmarks")) as server:
        filled = fill(server.url)
        assert filled.returncode == 0, filled.stderr
        assert "documents agree with their rows\n100 documents in " in filled.stdout
        yield server.url


def fill(database_url: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"DATABASE_URL": database_url}
    command = [sys.executable, "-m", "tests.benchmarks.data", "--size", "100"]
    return subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_every_program_verifies_what_it_measured(program: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(program.read_text())) if isinstance(node, ast.Call)]

    assert {call.func.id for call in calls if isinstance(call.func, ast.Name)} & {"verify", "verify_here"}


def test_copied_students_agree_with_their_rows(database_url: str, tmp_path: Path) -> None:
    assert len(copied_students(database_url, 10)) == 10

    verify(database_url, tmp_path)


def test_the_rows_of_the_bare_statement_are_removed_again(database_url: str, tmp_path: Path) -> None:
    assert bare_statement(database_url, 1, 1).requests > 0
    with pytest.raises(SystemExit, match="The data is wrong"):
        verify(database_url, tmp_path)

    remove_rows_of_bare_statement(database_url)

    verify(database_url, tmp_path)


def test_bench_data_fails_over_rows_that_disagree(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE document SET natural_key = 'NK#other' WHERE body ->> 'sessionName' = 'Fall'")

    filled = fill(database_url)

    assert filled.returncode == 1
    assert filled.stderr.endswith("disagreement(s) found\nThe data is wrong, and so is what was measured with it.\n")
    assert "a second" not in filled.stdout
