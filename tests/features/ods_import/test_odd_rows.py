"""Rows of an ODS that can be no documents here: each is named with its id and key, and all else is written."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from edfi_api.features.changes.change_queries.models import DeletedDocument
from tests.features.ods_import.ods import Ods
from tests.features.ods_import.stored import stored
from tests.support.databases import DOCUMENTS

pytestmark = pytest.mark.django_db
HIGHEST = 2**63 - 1
FIRST = "00000000-0000-4000-8000-0000000000"


def insert_students(ods: Ods, count: int) -> None:
    """Students from `1` on, with ids that end with their numbers."""
    ods.run(
        "INSERT INTO edfi.student (studentusi, birthdate, firstname, lastsurname, studentuniqueid, createdate,"
        " lastmodifieddate, id, aggregateid, changeversion)"
        " SELECT n, '2010-02-03', 'Mae', 'Ortiz', n::text, now(), now(), (%s || to_char(n, 'FM00'))::uuid, n, n"
        "   FROM generate_series(1, %s) AS n",
        [FIRST, count],
    )


@pytest.fixture
def students(ods: Ods) -> Ods:
    """Five of them."""
    insert_students(ods, 5)
    return ods


def refusals(ods: Ods, folder: Path, *options: object) -> list[tuple[str, str]]:
    """Places and reasons of the report of an import, which fails if there are any refused documents."""
    file = folder / "report.json"
    arguments = ("documents", "--from", ods.address, "--processes", "0", "--report", str(file), *map(str, options))
    try:
        call_command("import_ods", *arguments)
    except CommandError as error:
        assert "refused" in str(error)
    return [(each["file"], each["reason"]) for each in json.loads(file.read_text())["refusals"]]


def imported() -> list[str]:
    return sorted(each.body["studentUniqueId"] for each in stored().values() if each.endpoint == "students")


def test_a_document_of_too_many_values_is_named_and_the_others_are_written(students, tmp_path) -> None:
    students.run("INSERT INTO edfi.studentvisa SELECT 2, n, now() FROM generate_series(1, 60000) AS n")

    assert refusals(students, tmp_path) == [
        (f"{FIRST}02 NK#studentUniqueId=2", "it has more than 100,000 values, or 32 MB")
    ]
    assert imported() == ["1", "3", "4", "5"]


@pytest.mark.long
def test_a_document_of_a_million_rows_is_named(students, tmp_path) -> None:
    students.run("INSERT INTO edfi.studentvisa SELECT 2, n, now() FROM generate_series(1, 1000000) AS n")

    assert [place for place, _ in refusals(students, tmp_path)] == [f"{FIRST}02 NK#studentUniqueId=2"]
    assert imported() == ["1", "3", "4", "5"]


def test_two_rows_with_one_id_are_named(students, tmp_path) -> None:
    students.run("UPDATE edfi.student SET id = (%s || '01')::uuid WHERE studentusi = 4", [FIRST])
    students.run(
        "INSERT INTO edfi.schoolyeartype VALUES"
        " (2027, '2026-2027', true, now(), now(), (%s || '05')::uuid, 1, NULL, 9)",
        [FIRST],
    )
    several = "the ODS has several rows with this id, of which another is here"

    first = sorted(refusals(students, tmp_path))
    again = sorted(refusals(students, tmp_path))

    assert (
        first == again == [(f"{FIRST}01 NK#studentUniqueId=4", several), (f"{FIRST}05 NK#studentUniqueId=5", several)]
    )
    assert imported() == ["1", "2", "3"]
    assert len(stored()) == 4


MOMENT = "its createdate or lastmodifieddate is no date of the years 1 to 9999"
VERSION = "its change version is not between 0 and 4,611,686,018,427,387,904"
ODD_VALUES = {
    "createdate = 'infinity'": MOMENT,
    "lastmodifieddate = '-infinity'": MOMENT,
    "lastmodifieddate = '10000-01-01'": MOMENT,
    f"changeversion = {HIGHEST}": VERSION,
    "changeversion = -1": VERSION,
    "birthdate = 'infinity'": "$.birthDate: birthDate should be of type date.",
    "dateenteredus = '-infinity'": "$.dateEnteredUS: dateEnteredUS should be of type date.",
    "dateenteredus = '0044-03-15 BC'": "$.dateEnteredUS: dateEnteredUS should be of type date.",
    "birthdate = '10000-01-01'": "$.birthDate: birthDate should be of type date.",
}


def test_odd_values_name_their_row(ods, tmp_path) -> None:
    insert_students(ods, 10)
    for number, change in enumerate(ODD_VALUES, 1):
        ods.run(f"UPDATE edfi.student SET {change} WHERE studentusi = {number}")

    found = refusals(ods, tmp_path)

    assert sorted(found) == sorted(
        (f"{FIRST}0{number} NK#studentUniqueId={number}", reason)
        for number, reason in enumerate(ODD_VALUES.values(), 1)
    )
    assert imported() == ["10"]


@pytest.fixture
def own_versions(db) -> Iterator[None]:
    """The versions that this server gives go on where they were: a rollback does not set them back."""
    with connections[DOCUMENTS].cursor() as cursor:
        last = cursor.execute("SELECT coalesce(pg_sequence_last_value('change_version'), 2)").fetchone()[0]
        yield
        cursor.execute("SELECT setval('change_version', %s)", [last])


def test_a_sequence_at_its_maximum_stops_nothing(students, altered, own_versions, tmp_path, api_without_check) -> None:
    api = api_without_check
    altered(
        f"SELECT setval('changes.changeversionsequence', {HIGHEST})",
        "SELECT setval('changes.changeversionsequence', 1)",
    )

    assert refusals(students, tmp_path) == []
    assert refusals(students, tmp_path, "--since-last") == []
    assert imported() == ["1", "2", "3", "4", "5"]
    newest = api.get("/changeQueries/v1/availableChangeVersions").json()["newestChangeVersion"]
    created = api.post(
        "/students", {"studentUniqueId": "6", "firstName": "A", "lastSurname": "B", "birthDate": "2010-02-03"}
    )
    assert created.status_code == 201
    assert api.get("/changeQueries/v1/availableChangeVersions").json()["newestChangeVersion"] > newest


def test_recorded_changes_that_cannot_be_recorded_are_named(students, tmp_path) -> None:
    students.run(
        "INSERT INTO tracked_changes_edfi.student (oldstudentusi, oldstudentuniqueid, id, changeversion, createdate)"
        " VALUES (6, '6', (%(id)s || '06')::uuid, 6, 'infinity'), (7, '7', (%(id)s || '07')::uuid, 7, now()),"
        f" (8, '8', (%(id)s || '08')::uuid, {HIGHEST}, now())",
        {"id": FIRST},
    )

    assert refusals(students, tmp_path) == [
        (f"{FIRST}06, delete at version 6", "its createdate is no date of the years 1 to 9999"),
        (f"{FIRST}08, delete at version {HIGHEST}", VERSION),
    ]
    deleted = DeletedDocument.objects.using(DOCUMENTS).values_list("document_uuid", flat=True)
    assert [str(each) for each in deleted] == [f"{FIRST}07"]
    assert imported() == ["1", "2", "3", "4", "5"]
