"""Later passes: what changes in the source between them, and what was changed here."""

import pytest

from tests.ods_import.running import import_documents
from tests.ods_import.stored import stored

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


@pytest.fixture
def moved_in(moved_out, ods, api_without_check):
    """A school with a student, imported once."""
    api = api_without_check

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

    moved_out(write)
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
