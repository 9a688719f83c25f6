"""Benchmarks verify their data before they report figures."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
import pytest

from meadowlark.run.embedded_postgres import EmbeddedPostgres
from tests.support.ports import ADDRESS
from tests.support.server_processes import meadowlark
from tests.tools.benchmarks import report
from tests.tools.benchmarks.database import (
    bare_statement,
    copied_students,
    plain_tables,
    remove_rows_of_bare_statement,
)
from tests.tools.benchmarks.lean import lean_view
from tests.tools.benchmarks.verification import verify

TOP = Path(__file__).parents[3]
# The load generator opens no database; the benchmark of SQL views reads copies without references; that of the admin
# reads what `data` has verified.
# What verifies nothing itself.
NO_BENCHMARK = {"admin_pages.py", "load.py", "sql_views.py", "threads.py", Path(__file__).name}
PROGRAMS = [
    path
    for path in (TOP / "tests/tools/benchmarks").glob("*.py")
    if '__name__ == "__main__"' in path.read_text() and path.name not in NO_BENCHMARK
]


@pytest.fixture(scope="module")
def database_url(tmp_path_factory: pytest.TempPathFactory, prepared_home: Callable[[Path], Path]) -> Iterator[str]:
    """A separate database with one school."""
    with EmbeddedPostgres(prepared_home(tmp_path_factory.mktemp("benchmarks") / "home")) as server:
        filled = fill(server.url)
        assert filled.returncode == 0, filled.stderr
        assert "documents agree with their rows\n100 documents in " in filled.stdout
        yield server.url


def fill(database_url: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"DATABASE_URL": database_url}
    command = [sys.executable, "-m", "tests.tools.benchmarks.data", "--size", "100"]
    return subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_every_program_verifies_its_data(program: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(program.read_text())) if isinstance(node, ast.Call)]

    assert {call.func.id for call in calls if isinstance(call.func, ast.Name)} & {"verify", "verify_here"}


def test_figures_of_another_build_of_the_interpreter_are_not_compared(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text(report.as_json([], [], "wrk", []))
    assert report.baseline(file) == {}

    file.write_text(file.read_text().replace("CPython", "PyPy"))

    with pytest.raises(ValueError, match=r"measured with PyPy .*, and this is CPython "):
        report.baseline(file)


@pytest.mark.long
def test_copied_students_agree_with_their_rows(database_url: str, tmp_path: Path) -> None:
    assert len(copied_students(database_url, 10)) == 10

    verify(database_url, tmp_path)


@pytest.mark.long
def test_the_rows_of_the_bare_statement_are_removed(database_url: str, tmp_path: Path) -> None:
    assert bare_statement(database_url, 1, 1).requests > 0
    with pytest.raises(SystemExit, match="The data is wrong"):
        verify(database_url, tmp_path)

    remove_rows_of_bare_statement(database_url)

    verify(database_url, tmp_path)


_PLAIN_ROWS = """
SELECT (SELECT count(*) FROM benchmark.document), (SELECT count(*) FROM benchmark.alias),
       EXISTS (SELECT FROM benchmark.reference JOIN alias ON alias_id = referential_id)
"""
_OTHERS = """
SELECT conname FROM pg_constraint WHERE connamespace = 'benchmark'::regnamespace AND contype NOT IN ('p', 'n')
 UNION ALL
SELECT tgname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid WHERE c.relnamespace = 'benchmark'::regnamespace
 UNION ALL
SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class c ON c.oid = indrelid
 WHERE c.relnamespace = 'benchmark'::regnamespace AND NOT indisprimary
"""


@pytest.mark.long
def test_the_baseline_of_writes_has_rows_like_those_of_the_store_and_primary_keys_alone(
    database_url: str, tmp_path: Path
) -> None:
    written = plain_tables(database_url, 1, 1).requests

    with psycopg.connect(database_url) as connection:
        assert connection.execute(_PLAIN_ROWS).fetchone() == (written, written, True)
        assert connection.execute(_OTHERS).fetchall() == []
    remove_rows_of_bare_statement(database_url)
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT to_regnamespace('benchmark')").fetchone() == (None,)
    verify(database_url, tmp_path)


@pytest.mark.long
def test_the_lean_view_answers_with_the_stored_body_to_a_client_with_a_token(tmp_path: Path, prepared_home) -> None:
    home = prepared_home(tmp_path / "home")
    with meadowlark(home) as server, lean_view(server, home) as (port, _):
        sent = {"codeValue": "Lean", "shortDescription": "Lean", "namespace": "uri://ed-fi.org/TermDescriptor"}
        headers = {"Authorization": f"Bearer {server.token}"}
        path = "data/ed-fi/termDescriptors"
        made = httpx.post(f"http://{ADDRESS}:{server.port}/{path}", json=sent, headers=headers)
        id_ = made.headers["Location"].rpartition("/")[2]

        answer = httpx.get(f"http://{ADDRESS}:{port}/{path}/{id_}", headers=headers)

        assert answer.status_code == 200
        assert answer.json() == sent
        assert httpx.get(f"http://{ADDRESS}:{port}/{path}/{uuid4()}", headers=headers).status_code == 404
        other = {"Authorization": "Bearer another"}
        assert httpx.get(f"http://{ADDRESS}:{port}/{path}/{id_}", headers=other).status_code == 401


@pytest.mark.long
def test_bench_data_fails_if_rows_and_bodies_disagree(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE document SET organization = 7 WHERE body ->> 'sessionName' = 'Fall'")

    filled = fill(database_url)

    assert filled.returncode == 1
    assert filled.stderr.endswith("found\nThe data is wrong, and so is what was measured with it.\n")
    assert "a second" not in filled.stdout
