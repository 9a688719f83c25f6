"""`manage.py export_documents`: what it writes can be loaded, and is what the database held at one moment."""

import datetime
import errno
import gzip
import io
import json
import os
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import orjson
import pyarrow
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pyarrow import parquet

from edfi_api.core.models import Document, ResourceType
from edfi_api.core.served import current_surface
from edfi_api.core.storage import database_state
from edfi_api.core.storage.integrity import disagreements
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import Candidate, write_documents
from edfi_api.features.loading.json_lines.exporting import export_documents, write_to_folder, write_to_stream
from tests.features.loading.bulk.both_ways import stored
from tests.whole.concurrency.concurrently import in_background


@pytest.fixture
def written(transactional_db, district):
    """Writes candidates behind the district's descriptors."""

    def write(*candidates):
        results = [each.result for each in write_documents([*district.descriptors(), *candidates])]
        assert all(isinstance(result, Outcome) for result in results)

    return write


def empty_the_database():
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE document, alias, reference")


def exported_lines(capfdbinary, **options):
    call_command("export_documents", **options)
    return capfdbinary.readouterr().out.splitlines()


@pytest.fixture
def documents_of_every_resource(transactional_db, surface, documents):
    candidates = [
        Candidate.of(resource, body, resource.endpoint)
        for resource in surface.resources
        for body in (documents.full_body(resource), documents.minimal_body(resource) | _other_key(resource))
    ]
    assert sum(isinstance(each.result, Outcome) for each in write_documents(candidates)) > len(surface.resources)
    return stored()


def _other_key(resource):
    return {"codeValue": "Other"} if resource.is_descriptor else {}


def test_an_export_into_a_folder_reproduces_the_database(documents_of_every_resource, validators, tmp_path, capsys):
    call_command("export_documents", output=str(tmp_path))
    empty_the_database()

    call_command("load_documents", str(tmp_path))

    assert capsys.readouterr().out.splitlines()[-2].split()[1:] == [
        str(len(documents_of_every_resource)),
        "0",
        "0",
        "0",
    ]
    assert stored() == documents_of_every_resource
    assert list(disagreements(validators, "default")) == []


@pytest.mark.long
def test_an_export_to_standard_output_reproduces_the_database(documents_of_every_resource, capfdbinary, monkeypatch):
    lines = exported_lines(capfdbinary)
    empty_the_database()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(b"\n".join(lines)))))

    call_command("load_documents", "-")

    assert stored() == documents_of_every_resource


def test_each_resource_has_a_compressed_file_of_bodies(written, district, tmp_path):
    written(district.school(1), district.school(2))

    call_command("export_documents", output=str(tmp_path), resource=["schools", "/ed-fi/students"])

    assert [path.name for path in tmp_path.iterdir()] == ["ed-fi.schools.jsonl.gz"]
    lines = gzip.decompress((tmp_path / "ed-fi.schools.jsonl.gz").read_bytes()).splitlines()
    assert [orjson.loads(line) for line in lines] == [district.school(1).body, district.school(2).body]


def test_lines_on_standard_output_carry_their_resource_targets_first(written, district, capfdbinary):
    written(district.agency(2), district.school(1, agency=2))

    lines = [json.loads(line) for line in exported_lines(capfdbinary)]

    endpoints = [line["resource"] for line in lines]
    assert endpoints[-2:] == ["/ed-fi/localEducationAgencies", "/ed-fi/schools"]
    assert lines[-1]["body"] == district.school(1, agency=2).body


def test_numbers_keep_every_digit(written, district, capfdbinary):
    written(district.school(1))
    with connection.cursor() as cursor:
        cursor.execute("""UPDATE document d SET body = '{"precise": 1234567890123456789.0100}'
                           WHERE d.natural_key = 'NK#schoolId=1'""")

    [line] = exported_lines(capfdbinary, resource=["schools"])

    assert line == b'{"resource": "/ed-fi/schools", "body": {"precise": 1234567890123456789.0100}}'


def test_an_export_is_one_moment_of_a_database_that_goes_on(written, district, surface):
    written(district.school(1), district.period("one"))
    stream = io.BytesIO()

    def write_while_others_write(resource, pages):
        if resource.endpoint == "schools":
            writing = [district.school(2), district.period("two"), district.school(1, webSite="https://new.example")]
            in_background(lambda: list(write_documents(writing))).result(timeout=30)
        write_line(resource, pages)

    with write_to_stream(stream) as write_line:
        export_documents(surface.resources, write_while_others_write)

    bodies = [line["body"] for line in map(json.loads, stream.getvalue().splitlines())]
    assert bodies[-2:] == [district.school(1).body, district.period("one").body]
    assert Document.objects.filter(natural_key="NK#schoolId=2").exists()


def test_an_export_that_did_not_become_complete_leaves_the_old_one(written, district, tmp_path):
    """Of all resources, those that would have been complete among them."""
    written(district.school(1))
    call_command("export_documents", output=str(tmp_path))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    written(district.school(2), district.agency(3))

    def fail_at_schools(resource, pages):
        write(resource, pages)
        if resource.endpoint == "schools":
            raise OSError(errno.ENOSPC, "No space left on device")

    resources = current_surface().resources
    with (
        pytest.raises(OSError, match=f"No space left on device: '{tmp_path}'"),
        write_to_folder(tmp_path, resources) as write,
    ):
        export_documents(resources, fail_at_schools)

    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_export_replaces_an_older_one_whole(written, district, tmp_path):
    written(district.school(1), district.agency(2))
    call_command("export_documents", output=str(tmp_path))
    (tmp_path / "notes.txt").touch()
    Document.objects.filter(natural_key="NK#schoolId=1").delete()

    call_command("export_documents", output=str(tmp_path))

    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"ed-fi.localEducationAgencies.jsonl.gz", "notes.txt"}
    assert "ed-fi.schools.jsonl.gz" not in names


def test_an_export_is_on_disk_before_it_takes_the_place_of_an_older_one(written, district, tmp_path, monkeypatch):
    """Else a power failure could leave neither."""
    written(district.school(1), district.agency(2))
    brought = []
    fsync = os.fsync

    def noted(descriptor):
        brought.append((Path(f"/proc/self/fd/{descriptor}").readlink().name, sorted(tmp_path.glob("*.gz"))))
        fsync(descriptor)

    monkeypatch.setattr("os.fsync", noted)

    call_command("export_documents", output=tmp_path, resource=["schools", "localEducationAgencies"])

    files = [tmp_path / f"ed-fi.{endpoint}.jsonl.gz" for endpoint in ("localEducationAgencies", "schools")]
    assert sorted(brought[:-1]) == [(f"{file.name}.part", []) for file in files]
    assert brought[-1] == (tmp_path.name, files)


def test_a_full_disk_behind_standard_output_is_reported(written, district, monkeypatch):
    written(district.school(1))
    with suppress(OSError), Path("/dev/full").open("wb") as full:  # Closing it fails once more.
        monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=full))

        with pytest.raises(CommandError, match=r"^standard output: No space left on device$"):
            call_command("export_documents", resource=["schools"])


def test_an_unknown_resource_is_reported_in_one_line(db):
    with pytest.raises(CommandError, match=r"^the API offers no dragons$"):
        call_command("export_documents", resource=["dragons"])


@pytest.mark.long
def test_parquet_has_typed_columns(documents_of_every_resource, tmp_path):
    call_command("export_documents", format="parquet", output=str(tmp_path))

    [row, *_] = parquet.read_table(tmp_path / "ed-fi.studentSchoolAssociations.parquet").to_pylist()
    assert row["entryDate"] == datetime.date(2025, 8, 20)
    assert row["studentReference"] == {"studentUniqueId": "Value"}
    counts = {path.name: parquet.read_metadata(path).num_rows for path in tmp_path.iterdir()}
    assert sum(counts.values()) == len(documents_of_every_resource)


def test_parquet_has_decimals_with_the_digits_of_the_model(written, documents, surface, tmp_path):
    """81 stays 81."""
    staff = {"firstName": "Ada", "lastSurname": "Smith"}
    years = {"a": 81, "b": 0.07, "c": 81.01, "d": -999.99}
    written(
        *(
            Candidate.of(
                surface.resource_at("ed-fi/staffs"),
                staff | {"staffUniqueId": id_, "yearsOfPriorTeachingExperience": number},
                id_,
            )
            for id_, number in years.items()
        )
    )

    call_command("export_documents", format="parquet", output=str(tmp_path))

    staffs = parquet.read_table(tmp_path / "ed-fi.staffs.parquet")
    assert staffs.schema.field("yearsOfPriorTeachingExperience").type == pyarrow.decimal128(5, 2)
    assert [str(row["yearsOfPriorTeachingExperience"]) for row in staffs.to_pylist()] == [
        "81.00",
        "0.07",
        "81.01",
        "-999.99",
    ]


def test_parquet_has_a_file_for_a_resource_without_documents(written, surface, tmp_path):
    written()

    call_command("export_documents", format="parquet", output=str(tmp_path))

    assert len(list(tmp_path.iterdir())) == len(surface.resources)
    grades = parquet.read_table(tmp_path / "ed-fi.grades.parquet")
    assert grades.num_rows == 0
    assert grades.schema.field("numericGradeEarned").type == pyarrow.decimal128(9, 2)
    items = grades.schema.field("learningStandardGrades").type.value_type
    assert items.field("numericGradeEarned").type == pyarrow.decimal128(9, 2)


def test_parquet_without_its_library_is_refused_in_a_line(db, tmp_path, monkeypatch):
    monkeypatch.setattr("edfi_api.features.loading.json_lines.parquet.pyarrow", None)

    with pytest.raises(CommandError, match=r"^Parquet needs pyarrow"):
        call_command("export_documents", format="parquet", output=str(tmp_path))


def test_documents_of_resources_no_longer_served_are_reported(written, tmp_path):
    """After a change of the standard: what can be exported is, and nobody takes it for everything."""
    written()
    some = Document.objects.order_by("id").first()
    ResourceType.objects.filter(pk=some.resource_type_id).update(name="SeasonDescriptor")
    database_state.forget()

    with pytest.raises(CommandError, match=r"does not have them: SeasonDescriptor$"):
        call_command("export_documents", output=str(tmp_path))

    assert list(tmp_path.iterdir())


@pytest.mark.long
def test_ids_are_kept_where_that_is_wanted(documents_of_every_resource, tmp_path):
    before = {(each.resource_type_id, each.natural_key): each.document_uuid for each in Document.objects.all()}
    call_command("export_documents", "--ids", "--output", str(tmp_path))
    empty_the_database()

    call_command("load_documents", "--keep-ids", "--max-refused", "0", str(tmp_path), stdout=io.StringIO())

    assert stored() == documents_of_every_resource
    after = {(each.resource_type_id, each.natural_key): each.document_uuid for each in Document.objects.all()}
    assert after == before


def test_what_is_no_id_is_refused(transactional_db, tmp_path, capsys):
    student = {"firstName": "Ada", "lastSurname": "Diaz", "birthDate": "2010-01-01"}
    known = "01a2192b-fb17-75e3-9596-6eda80cb356b"
    lines = [{"id": known, "studentUniqueId": "1"}, {"id": "1", "studentUniqueId": "2"}, {"studentUniqueId": "3"}]
    file = tmp_path / "students.jsonl"
    file.write_text("".join(json.dumps(line | student) + "\n" for line in lines))

    call_command("load_documents", "--keep-ids", str(file), "--processes", "0")

    assert "students.jsonl:2: Student: " in capsys.readouterr().err
    stored_ids = {each.body["studentUniqueId"]: str(each.document_uuid) for each in Document.objects.all()}
    assert stored_ids.keys() == {"1", "3"}
    assert stored_ids["1"] == known
