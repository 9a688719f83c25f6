"""Later passes: what changes in the source between them, and what was changed here."""

import json

import pytest

from edfi_api.core.models import Document
from edfi_api.core.security.models import ApiClient
from edfi_api.features.ods_import.models import OwnershipToken
from tests.features.ods_import.ods import Content
from tests.features.ods_import.running import import_documents
from tests.features.ods_import.stored import Stored, stored
from tests.support.databases import DOCUMENTS

SCHOOL = {
    "schoolId": 255901001,
    "nameOfInstitution": "Grand Bend High School",
    "educationOrganizationCategories": [
        {"educationOrganizationCategoryDescriptor": "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#School"}
    ],
    "gradeLevels": [{"gradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"}],
}
STUDENT = {"studentUniqueId": "604822", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
PERIOD = {"classPeriodName": "01", "schoolReference": {"schoolId": 255901001}}
SCHEDULE = {
    "bellScheduleName": "Monday",
    "schoolReference": {"schoolId": 255901001},
    "classPeriods": [{"classPeriodReference": {"classPeriodName": "01", "schoolId": 255901001}}],
}
NEXT = "nextval('changes.changeversionsequence')"


@pytest.fixture(scope="module")
def kept() -> list[tuple[Content, dict[str, Stored]]]:
    """What `filled` has made for the first test, which the others get too."""
    return []


@pytest.fixture
def filled(moved_out, api_without_check, ods, kept):
    """The ODS has a school with a student."""
    api = api_without_check
    if kept:
        [(content, documents)] = kept
        ods.put(content)
        return documents

    def write() -> None:
        for path, body in (
            ("/educationOrganizationCategoryDescriptors", _descriptor("EducationOrganizationCategory", "School")),
            ("/gradeLevelDescriptors", _descriptor("GradeLevel", "Ninth grade")),
            ("/schools", SCHOOL),
            ("/students", STUDENT),
            ("/classPeriods", PERIOD),
            ("/bellSchedules", SCHEDULE),
        ):
            assert api.post(path, body).status_code == 201

    documents = moved_out(write)
    kept.append((ods.content(), documents))
    return documents


@pytest.fixture
def moved_in(filled, ods):
    """They are imported once."""
    import_documents(ods)
    return stored()


def _descriptor(name: str, value: str) -> dict[str, str]:
    return {"namespace": f"uri://ed-fi.org/{name}Descriptor", "codeValue": value, "shortDescription": value}


def newest(api) -> int:
    return api.get("/changeQueries/v1/availableChangeVersions").json()["newestChangeVersion"]


def of(documents, endpoint: str):
    return next((id_, each) for id_, each in documents.items() if each.endpoint == endpoint)


def test_what_has_changed_in_the_source_has_its_version_and_time_here(api, ods, moved_in) -> None:
    id_, before = of(moved_in, "students")
    [(version, at)] = ods.run(
        "UPDATE edfi.student SET firstname = 'May', lastmodifieddate = '2027-03-01 08:15:00.25',"
        f" changeversion = {NEXT} RETURNING changeversion, lastmodifieddate"
    )

    import_documents(ods, "--since-last")

    after = stored()[id_]
    assert after.body == before.body | {"firstName": "May"}
    assert (after.version, after.modified_at.replace(tzinfo=None)) == (version, at)
    assert {key: each for key, each in stored().items() if key != id_} == {
        key: each for key, each in moved_in.items() if key != id_
    }


def test_a_consumer_that_has_read_the_source_misses_nothing_of_a_later_pass(api, ods, moved_in) -> None:
    [(read_to,)] = ods.run("SELECT last_value FROM changes.changeversionsequence")
    ods.run(f"UPDATE edfi.student SET firstname = 'May', changeversion = {NEXT}")

    import_documents(ods, "--since-last")

    changed = api.get(f"/students?minChangeVersion={read_to + 1}&maxChangeVersion={newest(api)}").json()
    assert [student["firstName"] for student in changed] == ["May"]
    assert newest(api) > read_to
    assert api.post("/students", STUDENT | {"studentUniqueId": "604823"}).status_code == 201
    later = api.get(f"/students?minChangeVersion={read_to + 2}&maxChangeVersion={newest(api)}").json()
    assert [student["studentUniqueId"] for student in later] == ["604823"]


def test_a_delete_in_the_source_is_a_delete_here_with_its_version(api, ods, moved_in) -> None:
    id_, _ = of(moved_in, "students")
    [(usi,)] = ods.run("DELETE FROM edfi.student RETURNING studentusi")
    [(version,)] = ods.run(
        "INSERT INTO tracked_changes_edfi.student (oldstudentusi, oldstudentuniqueid, id, changeversion, createdate)"
        f" VALUES (%s, '604822', %s, {NEXT}, '2027-03-01') RETURNING changeversion",
        [usi, id_],
    )

    out = import_documents(ods, "--since-last")

    assert "deletes: 1 carried out" in out
    assert id_ not in stored()
    assert api.get("/students/deletes").json() == [
        {"id": id_, "changeVersion": version, "keyValues": {"studentUniqueId": "604822"}}
    ]


def test_a_delete_from_before_the_first_pass_is_reported_as_one(api, ods) -> None:
    id_ = "8f3b6c0a-5d58-4d0c-9a44-2f6f1a0f6b11"
    ods.run(
        "INSERT INTO tracked_changes_edfi.educationorganization"
        " (oldeducationorganizationid, id, changeversion, discriminator, createdate)"
        f" VALUES (255901001, %s, {NEXT}, 'edfi.School', '2027-03-01')",
        [id_],
    )

    import_documents(ods)

    [deleted] = api.get("/schools/deletes").json()
    assert (deleted["id"], deleted["keyValues"]) == (id_, {"schoolId": 255901001})
    assert api.get("/localEducationAgencies/deletes").json() == []


def test_a_delete_whose_version_another_has_here_is_named(api, ods) -> None:
    for id_ in ("8f3b6c0a-5d58-4d0c-9a44-2f6f1a0f6b11", "8f3b6c0a-5d58-4d0c-9a44-2f6f1a0f6b12"):
        ods.run(
            "DELETE FROM tracked_changes_edfi.student;"
            "INSERT INTO tracked_changes_edfi.student"
            "  (oldstudentusi, oldstudentuniqueid, id, changeversion, createdate)"
            f" VALUES (1, '604822', '{id_}', 5, '2027-03-01')"
        )
        out = import_documents(ods)

    assert "1 deletes or key changes have versions of others here" in out


def test_a_key_change_in_the_source_moves_what_refers_to_it(api, ods, moved_in) -> None:
    id_, _ = of(moved_in, "classPeriods")
    schedule, _ = of(moved_in, "bellSchedules")
    ods.run("UPDATE edfi.bellscheduleclassperiod SET classperiodname = '1st'")
    ods.run(f"UPDATE edfi.bellschedule SET changeversion = {NEXT}")
    [(own,)] = ods.run(
        f"UPDATE edfi.classperiod SET classperiodname = '1st', changeversion = {NEXT} RETURNING changeversion"
    )
    [(tracked,)] = ods.run(
        "INSERT INTO tracked_changes_edfi.classperiod"
        " (oldclassperiodname, oldschoolid, newclassperiodname, newschoolid, id, changeversion, createdate)"
        f" VALUES ('01', 255901001, '1st', 255901001, %s, {NEXT}, '2027-03-01') RETURNING changeversion",
        [id_],
    )

    out = import_documents(ods, "--since-last")

    assert "refused, see" not in out
    assert stored()[id_].body["classPeriodName"] == "1st"
    assert stored()[id_].version == own
    reference = stored()[schedule].body["classPeriods"][0]["classPeriodReference"]
    assert reference["classPeriodName"] == "1st"
    assert api.get("/classPeriods/keyChanges").json() == [
        {
            "id": id_,
            "changeVersion": tracked,
            "oldKeyValues": {"classPeriodName": "01", "schoolId": 255901001},
            "newKeyValues": {"classPeriodName": "1st", "schoolId": 255901001},
        }
    ]


def test_what_was_changed_here_stays_and_is_reported(api, ods, moved_in) -> None:
    id_, _ = of(moved_in, "students")
    assert api.put(f"/students/{id_}", STUDENT | {"id": id_, "firstName": "Maya"}).status_code == 204
    ods.run(f"UPDATE edfi.student SET firstname = 'May', changeversion = {NEXT}")

    out = import_documents(ods, "--since-last", "--max-refused", 1)
    assert "1 document changed here stay" in out
    assert stored()[id_].body["firstName"] == "Maya"

    import_documents(ods, "--since-last", "--overwrite")
    assert stored()[id_].body["firstName"] == "May"


def test_a_key_change_does_not_replace_what_was_changed_here(api, ods, moved_in) -> None:
    id_, _ = of(moved_in, "classPeriods")
    changed = PERIOD | {"id": id_, "officialAttendancePeriod": True}
    assert api.put(f"/classPeriods/{id_}", changed).status_code == 204
    ods.run("UPDATE edfi.bellscheduleclassperiod SET classperiodname = '1st'")
    ods.run(f"UPDATE edfi.classperiod SET classperiodname = '1st', changeversion = {NEXT}")

    out = import_documents(ods, "--since-last", "--max-refused", 1)  # The schedule refers to the new key.

    assert "1 document changed here stay" in out
    assert stored()[id_].body["officialAttendancePeriod"] is True


def test_a_dry_run_says_what_a_pass_would_do_and_writes_nothing(api, ods, moved_in) -> None:
    ods.run(f"UPDATE edfi.student SET firstname = 'May', changeversion = {NEXT}")

    out = import_documents(ods, "--since-last", "--dry-run")

    assert out.split("total")[1].split()[:5] == ["0", "1", "5", "0", "0"]
    assert stored() == moved_in


def test_a_document_deleted_and_created_again_in_the_source_has_its_new_id_here(api, ods, moved_in) -> None:
    id_, _ = of(moved_in, "classPeriods")
    again = "8f3b6c0a-5d58-4d0c-9a44-2f6f1a0f6b11"
    ods.run(f"UPDATE edfi.classperiod SET id = %s, changeversion = {NEXT}", [again])

    import_documents(ods, "--since-last")

    schedule = api.get("/bellSchedules").json()[0]
    assert stored()[again].endpoint == "classPeriods"
    assert id_ not in stored()
    assert schedule["classPeriods"][0]["classPeriodReference"]["link"]["href"].endswith(again)


def test_the_first_pass_into_a_store_with_descriptors_gives_them_the_ids_of_the_source(api, ods, moved_out) -> None:
    body = _descriptor("GradeLevel", "Ninth grade")
    there = moved_out(lambda: api.post("/gradeLevelDescriptors", body))
    assert api.post("/gradeLevelDescriptors", body | {"description": "of ours"}).status_code == 201

    import_documents(ods)

    assert stored() == there


def test_a_delete_that_a_referrer_prevents_is_reported(api, ods, moved_in) -> None:
    id_, _ = of(moved_in, "schools")
    ods.run(
        "INSERT INTO tracked_changes_edfi.educationorganization"
        " (oldeducationorganizationid, id, changeversion, discriminator, createdate)"
        f" VALUES (255901001, %s, {NEXT}, 'edfi.School', '2027-03-01')",
        [id_],
    )

    out = import_documents(ods, "--since-last")

    assert f"not deleted, others refer to it: schools {id_}" in out
    assert id_ in stored()


@pytest.fixture
def without_records(altered):
    """The ODS records no deletes."""
    altered(
        "ALTER SCHEMA tracked_changes_edfi RENAME TO auth_of_no_records",
        "ALTER SCHEMA auth_of_no_records RENAME TO tracked_changes_edfi",
    )


RENAME = """
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT table_name FROM information_schema.columns WHERE table_schema = 'edfi' AND column_name = '{old}'
    LOOP
        EXECUTE format('ALTER TABLE edfi.%I RENAME {old} TO {new}', name);
    END LOOP;
END
$$
"""


@pytest.fixture
def without_versions(filled, altered, without_records):
    """The ODS has no change queries at all."""
    altered(RENAME.format(old="changeversion", new="nothing"), RENAME.format(old="nothing", new="changeversion"))


def delete_school(ods) -> None:
    for table in ("bellscheduleclassperiod", "bellschedule", "classperiod", "schoolgradelevel", "school"):
        ods.run(f"DELETE FROM edfi.{table}")
    for table in ("educationorganizationcategory", "educationorganization"):
        ods.run(f"DELETE FROM edfi.{table}")


def test_what_a_source_without_records_no_longer_has_is_deleted_here(api, ods, without_records, moved_in) -> None:
    of_ours = STUDENT | {"studentUniqueId": "604823"}
    assert api.post("/students", of_ours).status_code == 201
    id_, _ = of(moved_in, "students")
    ods.run("DELETE FROM edfi.student")
    delete_school(ods)

    out = import_documents(ods, "--since-last")

    assert "deletes: 4 carried out" in out
    assert {each.endpoint for each in stored().values()} == {
        "students",  # That of ours, which the source never had.
        "gradeLevelDescriptors",
        "educationOrganizationCategoryDescriptors",
    }
    assert [deleted["id"] for deleted in api.get("/students/deletes").json()] == [id_]
    assert "deletes: 0 carried out" in import_documents(ods, "--since-last")


def test_what_was_changed_here_is_not_deleted_though_the_source_no_longer_has_it(
    api, ods, without_records, moved_in
) -> None:
    id_, _ = of(moved_in, "students")
    assert api.put(f"/students/{id_}", STUDENT | {"id": id_, "firstName": "Maya"}).status_code == 204
    ods.run("DELETE FROM edfi.student")

    for _ in range(2):
        out = import_documents(ods, "--since-last")
        assert f"not deleted, changed here: students {id_}" in out

    assert id_ in stored()


def test_a_source_without_change_queries_is_followed_by_later_passes(api, ods, without_versions, moved_in) -> None:
    assert api.post("/students", STUDENT | {"studentUniqueId": "604823"}).status_code == 201
    id_, _ = of(moved_in, "bellSchedules")
    ods.run("DELETE FROM edfi.bellscheduleclassperiod; DELETE FROM edfi.bellschedule")
    ods.run("UPDATE edfi.student SET firstname = 'May'")

    out = import_documents(ods, "--since-last")

    assert "counts no change versions" in out
    assert "deletes: 1 carried out" in out
    assert id_ not in stored()
    assert {each["firstName"] for each in api.get("/students").json()} == {"May", "Mae"}


def test_a_refused_document_is_reported_with_its_id_key_and_cause(api, ods, moved_in, tmp_path) -> None:
    id_, _ = of(moved_in, "schools")
    ods.run(f"UPDATE edfi.educationorganization SET operationalstatusdescriptorid = 99, changeversion = {NEXT}")

    report = tmp_path / "report.json"
    import_documents(ods, "--since-last", "--max-refused", 1, "--report", report)

    read = json.loads(report.read_text())
    [refusal] = read["refusals"]
    assert refusal["file"] == f"{id_} NK#schoolId=255901001"
    assert "operationalStatusDescriptor" in refusal["reason"]
    assert read["summary"]["total"]["refused"] == 1


def test_a_descriptor_of_another_type_is_refused(api, ods, moved_in) -> None:
    ods.run(
        "UPDATE edfi.educationorganization SET operationalstatusdescriptorid ="
        f" (SELECT gradeleveldescriptorid FROM edfi.gradeleveldescriptor), changeversion = {NEXT}"
    )

    out = import_documents(ods, "--since-last", "--max-refused", 1)

    assert "1 refused" in out


def test_an_owner_is_given_once_its_client_is_here(api, ods, moved_in) -> None:
    id_, _ = of(moved_in, "students")
    ods.run("UPDATE edfi.student SET createdbyownershiptokenid = 7")
    assert "1 documents there have ownership tokens" in import_documents(ods)
    client = ApiClient.objects.get()
    OwnershipToken.objects.create(token=7, api_client=client.pk)

    out = import_documents(ods)

    assert "ownership tokens" not in out
    assert Document.objects.using(DOCUMENTS).get(document_uuid=id_).created_by == client.pk


def test_nothing_that_the_source_calls_like_a_function_of_postgresql_is_called(api, ods, altered, filled) -> None:
    """Not even if its role is to look for functions and tables elsewhere first."""
    altered(
        "CREATE FUNCTION public.to_char(date, text) RETURNS text LANGUAGE sql RETURN 'tricked';"
        "CREATE FUNCTION public.tricked(text, text) RETURNS text LANGUAGE sql RETURN 'tricked';"
        "CREATE OPERATOR public.|| (FUNCTION = public.tricked, LEFTARG = text, RIGHTARG = text);"
        "CREATE TABLE public.pg_class (oid oid);"
        f"ALTER ROLE {ods.name}_reader SET search_path = public, edfi, pg_catalog",
        f"ALTER ROLE {ods.name}_reader RESET search_path; DROP TABLE public.pg_class;"
        "DROP OPERATOR public.|| (text, text); DROP FUNCTION public.tricked(text, text), public.to_char(date, text)",
    )
    altered(
        """CREATE TABLE edfi."a""; DROP TABLE edfi.student; --" (b integer)""",
        """DROP TABLE edfi."a""; DROP TABLE edfi.student; --" """,
    )

    import_documents(ods)

    assert stored() == filled
