"""What is said before an import, and after it."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.core.storage import resource_types
from edfi_api.features.ods_import.compatibility import ServedModel
from edfi_api.features.ods_import.ods_source import SourceUnusable, opened
from edfi_api.features.sql_views.bodies import ResourceBodies
from edfi_api.features.sql_views.tables import sql_tables
from tests.features.ods_import.running import import_documents
from tests.features.sql_views.models import compiled
from tests.support.databases import DOCUMENTS
from tests.support.management_commands import printed
from tests.support.serving import LAKE_COUNTY, served

DESCRIPTOR = {
    "namespace": "uri://ed-fi.org/GradeLevelDescriptor",
    "codeValue": "Ninth grade",
    "shortDescription": "Ninth grade",
}


@pytest.fixture
def with_a_descriptor(moved_out, api_without_check):
    moved_out(lambda: api_without_check.post("/gradeLevelDescriptors", DESCRIPTOR))


def checked(ods) -> str:
    """All that the command prints, and the error with which it ends."""
    out = StringIO()
    with pytest.raises(CommandError) as error:
        call_command("import_ods", "check", "--from", ods.address, stdout=out)
    return f"{out.getvalue()}{error.value}"


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

    out = printed("import_ods", "documents", "--from", ods.address, "--processes", 0)

    assert "lost: edfi.student hobby: 1 (the served model has no place for it)" in out.err
    assert "lost: interop.operationalcontext all columns: 1 (the served model has no place for it)" in out.err
    altered(
        "ALTER TABLE edfi.student RENAME maidenname TO birthname",
        "ALTER TABLE edfi.student RENAME birthname TO maidenname",
    )

    with pytest.raises(CommandError, match="3 things would be lost or refused"):
        printed("import_ods", "check", "--from", ods.address)
    with pytest.raises(CommandError, match=r"the source does not have edfi\.student\.maidenname"):
        import_documents(ods)


def test_what_the_source_is_is_said_with_what_says_so_as_far_as_the_role_may_read_it(
    api, ods, with_a_descriptor, altered
) -> None:
    altered(
        'CREATE TABLE public."DeployJournal" (schemaversionsid int, scriptname text, applied timestamp);'
        "CREATE SCHEMA util; CREATE FUNCTION util.getedfistandardversion() RETURNS text LANGUAGE sql RETURN '5.2.x'",
        'DROP TABLE public."DeployJournal"; DROP SCHEMA util CASCADE',
    )
    ods.run("""INSERT INTO public."DeployJournal" VALUES (1, 'first', '2027-01-01'), (2, 'last', '2027-02-01')""")

    out = printed("import_ods", "check", "--from", ods.address).out

    assert "data standard 5.2.0 (by its tables); edfi\n" in out
    assert "ODS/API: its tables are as of 7.3 (they have aggregatedata)\n" in out
    ods.run(f'GRANT SELECT ON public."DeployJournal" TO PUBLIC; GRANT USAGE ON SCHEMA util TO {ods.name}_reader')
    out = printed("import_ods", "check", "--from", ods.address).out
    assert "data standard 5.2.x (util.getedfistandardversion); edfi\n" in out
    assert "they have aggregatedata); the last of its scripts is last, of 2027-02-01\n" in out


def test_what_is_not_served_or_may_not_be_read_is_named_and_stops_nothing_else(
    api, ods, with_a_descriptor, altered
) -> None:
    altered(
        "CREATE SCHEMA tpdm; CREATE TABLE tpdm.candidate (candidateidentifier text);"
        "CREATE TABLE tpdm.studentextension (studentusi int); CREATE TABLE tpdm.empty (id int);"
        "INSERT INTO tpdm.candidate VALUES ('1'), ('2'); INSERT INTO tpdm.studentextension VALUES (1);"
        f"GRANT USAGE ON SCHEMA tpdm TO {ods.name}_reader; GRANT SELECT ON ALL TABLES IN SCHEMA tpdm TO PUBLIC;"
        "CREATE TABLE tpdm.secret (id int); CREATE TABLE edfi.secret (id int)",
        "DROP SCHEMA tpdm CASCADE; DROP TABLE edfi.secret",
    )

    out = checked(ods)

    assert "data standard 5.2.0 (by its tables); edfi, tpdm" in out
    assert (
        "extension tpdm: 3 rows in 2 tables and 1 table that may not be read; it is not served: MEADOWLARK_EXT" in out
    )
    assert "edfi.secret: the role may not read it, and the served model has no place for it" in out
    assert "2 things would be lost or refused" in out
    assert "1 documents read" in import_documents(ods)


@pytest.mark.parametrize(
    ("served_projects", "said"),
    [
        (("5.2", LAKE_COUNTY), "the extension LakeCounty is served, and the source does not have it"),
        (("4.0",), "the source has the tables of Ed-Fi 5.2: import with MEADOWLARK_DATA_STANDARD=5.2"),
    ],
    ids=["an extension that it does not have", "another standard"],
)
def test_a_source_of_other_projects_is_refused_with_what_to_serve(ods, db, served_projects, said, monkeypatch) -> None:
    standard, *extensions = served_projects
    model, of_test = compiled(BUNDLED_STANDARDS / standard, *extensions), served(standard, *extensions)
    with of_test.instead():
        bodies = ResourceBodies(model, of_test.surface, resource_types.numbers(DOCUMENTS))
        of_projects = ServedModel(of_test.surface, sql_tables(model), bodies)
        monkeypatch.setattr(ServedModel, "current", lambda using: of_projects)

        out = checked(ods)
        assert said in out
        assert "data standard 5.2" in out
        with pytest.raises(CommandError, match=said):
            import_documents(ods)


def test_rows_that_are_of_no_type_are_named(api, ods, with_a_descriptor) -> None:
    ods.run(
        "INSERT INTO edfi.descriptor (descriptorid, namespace, codevalue, shortdescription, createdate,"
        " lastmodifieddate, id, discriminator, uri, aggregateid, changeversion)"
        " VALUES (99, 'uri://x', 'x', 'x', now(), now(), gen_random_uuid(), 'edfi.GoneDescriptor', 'uri://x#x', 99, 9)"
    )
    ods.run(
        "INSERT INTO edfi.educationorganization (educationorganizationid, nameofinstitution, discriminator,"
        " createdate, lastmodifieddate, id, aggregateid, changeversion)"
        " VALUES (1, 'x', 'edfi.Gone', now(), now(), gen_random_uuid(), 1, 9)"
    )

    out = checked(ods)

    assert "edfi.descriptor without a row of its type: 1 rows" in out
    assert "edfi.educationorganization without a row of its type: 1 rows" in out


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
