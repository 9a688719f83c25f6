"""Loads of files that have a document twice: the last one counts, and a further load changes nothing."""

import json

import pytest
from django.core.management import call_command
from django.db import connection

from edfi_api.core.models import Document
from tests.features.loading.bulk.conftest import CATEGORY, GRADE

LEVEL = {"namespace": "uri://ed-fi.org/LevelDescriptor", "codeValue": "1"}
XML = """<InterchangeDescriptors xmlns="http://ed-fi.org/5.2.0">
{}
</InterchangeDescriptors>
"""


def versions() -> dict[str, int]:
    return {row.natural_key: row.change_version for row in Document.objects.all()}


def figures(out: str) -> list[int]:
    """Created, updated, unchanged, refused in all."""
    return next([int(each) for each in line.split()[1:]] for line in out.splitlines() if line.startswith("total"))


def school_named(district, name, number=1):
    return district.school(number, nameOfInstitution=name).body


@pytest.fixture
def lines(write, district):
    return write("schools.jsonl", *(school_named(district, name) for name in ("Level 1", "Level 2", "Minimal")))


def test_a_second_load_changes_nothing_and_names_what_the_file_replaces(load, lines, tmp_path):
    first = load(lines)
    before = versions()

    second = load(lines, report=tmp_path / "report.json")

    assert figures(first.out) == [1, 1, 1, 0]
    assert first.err.splitlines() == [
        "2 documents are replaced by a later one of the same load for the same key",
        f"School NK#schoolId=1: {lines}:2 is replaced by {lines}:3",
        f"School NK#schoolId=1: an earlier document is replaced by {lines}:3",
    ]
    assert Document.objects.get(resource_type__name="School").body["nameOfInstitution"] == "Minimal"
    assert figures(second.out) == [0, 0, 3, 0]
    assert versions() == before
    assert json.loads((tmp_path / "report.json").read_text())["summary"]["replaced"] == {
        "count": 2,
        "documents": [
            {"resource": "School", "naturalKey": "NK#schoolId=1", "replaced": f"{lines}:1", "by": f"{lines}:2"},
            {"resource": "School", "naturalKey": "NK#schoolId=1", "replaced": f"{lines}:2", "by": f"{lines}:3"},
        ],
    }


def test_what_changes_is_changed_once(load, lines, write, district):
    load(lines)
    [school] = Document.objects.filter(resource_type__name="School")
    changed = write("schools.jsonl", *(school_named(district, name) for name in ("A", "B", "Minimal", "C")))

    assert figures(load(changed).out) == [0, 1, 3, 0]

    after = Document.objects.get(pk=school.pk)
    assert after.body["nameOfInstitution"] == "C"
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM superseded_document WHERE change_version >= %s", [school.change_version])
        assert cursor.fetchone() == (1,)


def test_a_dry_run_says_the_same(load, lines):
    tried = load(lines, dry_run=True)
    assert (figures(tried.out), tried.err.count("\n")) == ([1, 1, 1, 0], 3)

    load(lines)
    tried = load(lines, dry_run=True)
    assert (figures(tried.out), tried.err.count("\n")) == ([0, 0, 3, 0], 3)


def test_rows_of_csv_and_files_of_a_folder(load, tmp_path):
    header = (
        "schoolId,nameOfInstitution,educationOrganizationCategories[0].educationOrganizationCategoryDescriptor,"
        "gradeLevels[0].gradeLevelDescriptor"
    )
    (tmp_path / "a.schools.csv").write_text(f"{header}\n1,Old,{CATEGORY},{GRADE}\n")
    (tmp_path / "schools.csv").write_text(f"{header}\n1,Older,{CATEGORY},{GRADE}\n1,New,{CATEGORY},{GRADE}\n")
    load(tmp_path / "schools.csv")
    before = versions()

    again = load(tmp_path / "schools.csv")

    assert (figures(again.out), versions()) == ([0, 0, 2, 0], before)


@pytest.mark.parametrize("command", ["load_interchange", "load_descriptors"])
def test_elements_of_xml(db, tmp_path, capsys, command):
    elements = "\n".join(
        f"<GradeLevelDescriptor><CodeValue>{code}</CodeValue><ShortDescription>{name}</ShortDescription>"
        "<Namespace>uri://ed-fi.org/GradeLevelDescriptor</Namespace></GradeLevelDescriptor>"
        for code, name in (("1", "Level 1"), ("1", "Minimal"))
    )
    (tmp_path / "Descriptors.xml").write_text(XML.format(elements))
    call_command(command, str(tmp_path))
    first = capsys.readouterr()
    before = versions()

    call_command(command, str(tmp_path))

    assert "1 document is replaced by a later one" in first.err
    assert versions() == before
    assert "0 updated, 2 unchanged" in (out := capsys.readouterr().out) or figures(out) == [0, 0, 2, 0]


def test_an_earlier_document_that_waits_for_its_target_does_not_count(load, write, district):
    """It is tried again behind the later one."""
    waits = district.agency(2, parent=1, nameOfInstitution="Waits").body
    path = write(
        "localEducationAgencies.jsonl",
        waits,
        district.agency(2, nameOfInstitution="Counts").body,
        district.agency(1).body,
    )
    load(path)
    before = versions()

    again = load(path)

    assert Document.objects.get(body__localEducationAgencyId=2).body["nameOfInstitution"] == "Counts"
    assert (figures(again.out), versions()) == ([0, 0, 3, 0], before)


@pytest.fixture
def small_batches(transactional_db, monkeypatch):
    """Several batches are prepared and written at a time."""
    monkeypatch.setattr("edfi_api.features.loading.bulk.preparation.MOST_DOCUMENTS", 50)
    monkeypatch.setattr("edfi_api.features.loading.bulk.pipeline._ENOUGH_FOR_THREADS", 50)
    monkeypatch.setattr("edfi_api.features.loading.bulk.pipeline._TOO_FEW_FOR_PROCESSES", 100)


@pytest.mark.parametrize("processes", [0, 2])
def test_keys_that_are_repeated_in_other_batches(small_batches, write, capsys, processes):
    sexes = [
        {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": f"{number % 170}", "shortDescription": f"{number}"}
        for number in range(400)
    ]
    path = write("sexDescriptors.jsonl", *sexes)
    call_command("load_documents", str(path), processes=processes)
    first = figures(capsys.readouterr().out)
    before = versions()

    call_command("load_documents", str(path), processes=processes)

    second = capsys.readouterr()
    assert first == [170, 170, 60, 0]
    assert figures(second.out) == [0, 0, 400, 0]
    assert versions() == before
    assert second.err.splitlines()[0].startswith("230 documents are replaced by a later one")
