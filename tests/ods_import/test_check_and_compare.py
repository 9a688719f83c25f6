"""What is said before an import, and after it."""

import pytest
from django.core.management.base import CommandError

from edfi_api.ods_import.exceptions import SourceUnusable
from edfi_api.ods_import.ods_source import opened
from tests.management_commands import printed
from tests.ods_import.running import import_documents

DESCRIPTOR = {
    "namespace": "uri://ed-fi.org/GradeLevelDescriptor",
    "codeValue": "Ninth grade",
    "shortDescription": "Ninth grade",
}


@pytest.fixture
def with_a_descriptor(moved_out, api_without_check):
    moved_out(lambda: api_without_check.post("/gradeLevelDescriptors", DESCRIPTOR))


def test_a_source_that_fits_is_counted(api, ods, with_a_descriptor) -> None:
    out = printed("import_ods", "check", "--from", ods.address).out

    assert "1 gradeLevelDescriptors" in out
    assert "deletes and key changes are recorded" in out


def test_what_has_no_place_is_named_with_its_number(api, ods, with_a_descriptor, altered) -> None:
    altered("ALTER TABLE edfi.student ADD hobby text", "ALTER TABLE edfi.student DROP hobby")
    ods.run(
        "INSERT INTO edfi.student (studentusi, birthdate, firstname, lastsurname, studentuniqueid, createdate,"
        " lastmodifieddate, id, aggregateid, changeversion, hobby)"
        " VALUES (1, '2010-02-03', 'Mae', 'Ortiz', '1', now(), now(), gen_random_uuid(), 1, 1, 'chess')"
    )
    ods.run("INSERT INTO interop.operationalcontext VALUES ('uri://x', 'x', 'x', now(), now(), gen_random_uuid())")
    altered(
        "ALTER TABLE edfi.student RENAME maidenname TO birthname",
        "ALTER TABLE edfi.student RENAME birthname TO maidenname",
    )

    with pytest.raises(CommandError, match="3 things would be lost or refused"):
        printed("import_ods", "check", "--from", ods.address)
    with pytest.raises(CommandError, match=r"the source does not have edfi\.student\.maidenname"):
        import_documents(ods)


def test_texts_that_are_longer_than_the_model_has_them_are_refused_by_size(api, ods, altered) -> None:
    altered(
        "ALTER TABLE edfi.student ALTER firstname TYPE text",
        "TRUNCATE edfi.student; ALTER TABLE edfi.student ALTER firstname TYPE varchar(75)",
    )
    ods.run(
        "INSERT INTO edfi.student (studentusi, birthdate, firstname, lastsurname, studentuniqueid, createdate,"
        " lastmodifieddate, id, aggregateid, changeversion)"
        " VALUES (1, '2010-02-03', repeat('x', 10000000), 'Ortiz', '1', now(), now(), gen_random_uuid(), 1, 1)"
    )

    with pytest.raises(CommandError, match="1 of 1 documents refused"):
        import_documents(ods)
    with pytest.raises(CommandError, match="1 thing would be lost or refused"):
        printed("import_ods", "check", "--from", ods.address)


def test_both_sides_are_the_same_after_an_import_and_differ_after_a_change(api, ods, with_a_descriptor) -> None:
    import_documents(ods)
    assert "1 documents there, 1 here; 1 are the same" in printed("import_ods", "compare", "--from", ods.address).out

    [document] = api.get("/gradeLevelDescriptors").json()
    ods.run("UPDATE edfi.descriptor SET description = 'another'")
    with pytest.raises(CommandError, match="the two sides differ"):
        printed("import_ods", "compare", "--from", ods.address)
    assert document["codeValue"] == "Ninth grade"


@pytest.mark.parametrize(
    "address", ["postgresql://reader:to-hide@127.0.0.1:1/x", "nonsense to-hide", "host=/nowhere password=to-hide"]
)
def test_an_address_is_not_printed(db, address) -> None:
    with pytest.raises(CommandError, match="the source cannot be read") as failure:
        printed("import_ods", "check", "--from", address)

    assert "to-hide" not in str(failure.value)


def test_the_source_is_never_written(ods) -> None:
    with opened(ods.owner) as source, pytest.raises(SourceUnusable, match="read-only transaction"):
        source.rows("DELETE FROM edfi.student")
