"""Writes are the same with views as without: the same statements, triggers and locks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from edfi_api.features.sql_views.installation import Installation
from tests.conftest import item_path
from tests.features.sql_views.running import query

VIEWS = ("", "school", "classperiod", "classperiodmeetingtime", "bellscheduleclassperiod", "descriptor")


@pytest.fixture
def school(api, documents, resource_named) -> dict[str, Any]:
    documents.store(resource_named("School"))
    return {"schoolReference": {"schoolId": documents.minimal_body(resource_named("School"))["schoolId"]}}


def traces_of_writes(api, school: dict[str, Any], name: str, protocol: Path) -> tuple[list[str], list[tuple]]:
    """What a POST, a PUT that changes the key, and a DELETE send to PostgreSQL, without values, and the locks that are
    held after them."""
    with protocol.open("w") as file:
        connection.connection.pgconn.trace(file.fileno())
        path = item_path(api.post("/classPeriods", {"classPeriodName": name, **school}))
        changed = {"id": path.rsplit("/", 1)[1], "classPeriodName": f"{name} again", **school}
        assert api.put(path, changed).status_code == 204
        assert api.delete(path).status_code == 204
        connection.connection.pgconn.untrace()
    sent = [line.split("\t") for line in protocol.read_text().splitlines() if "\tF\t" in line]
    kinds = [message for *_, message in ((*line[:2], line[3]) for line in sent)]
    locks = query(
        "SELECT relation::regclass::text, mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation IS NOT NULL"
    )
    return kinds, locks


def triggers() -> list[tuple]:
    """Return the triggers of tables; views have some that fire only when rows are inserted through them."""
    return query(
        "SELECT tgrelid::regclass::text, tgname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid"
        " WHERE c.relkind <> 'v' ORDER BY 1, 2"
    )


def test_writes_are_the_same_with_views_as_without(api, school, current_views, tmp_path) -> None:
    for name in ("A", "B", "C", "D", "E", "F"):  # Statements are prepared after some uses.
        traces_of_writes(api, school, name, tmp_path / "warm")
    before = traces_of_writes(api, school, "G", tmp_path / "before"), triggers()
    definitions = [each for each in current_views.definitions if each.schema == "edfi" and each.name in VIEWS]
    Installation("default").install(definitions, "of a test")
    held = set(query("SELECT relation::regclass::text, mode FROM pg_locks WHERE pid = pg_backend_pid()"))

    (sent, locks), of_tables = traces_of_writes(api, school, "H", tmp_path / "after"), triggers()

    assert query("SELECT count(*) FROM edfi.classperiod") == [(0,)]
    assert sent == before[0][0]
    assert len(sent) > 10
    assert set(locks) - held == set(before[0][1]) - held
    assert of_tables == before[1]


def test_people_are_written_beyond_the_numbers_that_an_ods_has(api, documents, resource_named) -> None:
    """USIs have 32 bits, rows of documents have more."""
    sequence = "pg_get_serial_sequence('document', 'id')"
    ((next_row,),) = query(f"SELECT nextval({sequence})")
    query(f"SELECT setval({sequence}, 2147483647)")
    try:
        response = api.post("/students", documents.minimal_body(resource_named("Student")))
    finally:
        query(f"SELECT setval({sequence}, {next_row})")  # A rollback does not undo it.

    assert response.status_code == 201
    assert query("SELECT max(id) FROM document WHERE is_person") == [(2_147_483_648,)]
