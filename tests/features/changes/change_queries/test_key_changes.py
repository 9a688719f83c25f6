"""GET /keyChanges. See meadowlark/docs/reference/contract.md#change-queries."""

import pytest

from edfi_api.core.models import Document
from tests.conftest import item_path


@pytest.fixture
def period(api, documents, resource_named):
    documents.store(resource_named("School"))
    body = {"classPeriodName": "P1", "schoolReference": {"schoolId": 1008}}
    return item_path(api.post("/classPeriods", body))


def rename(api, path, **changes):
    response = api.put(path, api.get(path).json() | changes)
    assert response.status_code == 204, response.content


def test_a_key_change_has_old_and_new_values(api, changes, period):
    rename(api, period, classPeriodName="Period 1")

    assert changes.key_changes("classPeriods") == [
        {
            "id": period.rsplit("/", 1)[1],
            "changeVersion": changes.newest(),
            "oldKeyValues": {"classPeriodName": "P1", "schoolId": 1008},
            "newKeyValues": {"classPeriodName": "Period 1", "schoolId": 1008},
        }
    ]


def test_a_change_of_other_values_is_no_key_change(api, changes, period):
    rename(api, period, officialAttendancePeriod=True)

    assert changes.key_changes("classPeriods") == []


def test_descriptors_that_differ_in_letters_that_databases_fold_are_other_keys(api, changes, documents, resource_named):
    """PostgreSQL's `lower` gives İ and i the same form, and Σ at the end of a word another one than Python's."""
    documents.store(resource_named("Grade"))
    grade = f"/grades/{Document.objects.get(resource_type__name='Grade').document_uuid}"
    codes = ["\u0130", "i", "\u0391\u03a3", "\u03b1\u03c3"]
    for code in codes:
        body = {"namespace": "uri://ed-fi.org/GradeTypeDescriptor", "codeValue": code, "shortDescription": "Any"}
        assert api.post("/gradeTypeDescriptors", body).status_code == 201
        before = changes.newest()
        rename(api, grade, gradeTypeDescriptor=f"uri://ed-fi.org/GradeTypeDescriptor#{code}")
        (change,) = changes.key_changes("grades", before + 1)
        assert change["newKeyValues"]["gradeTypeDescriptor"].endswith(f"#{code}")


def test_several_key_changes_of_one_document_are_merged(api, changes, period):
    rename(api, period, classPeriodName="P2")
    first = changes.newest()
    rename(api, period, classPeriodName="P3")
    second = changes.newest()
    rename(api, period, classPeriodName="P4")

    def found(*window):
        return [
            (each["oldKeyValues"]["classPeriodName"], each["newKeyValues"]["classPeriodName"], each["changeVersion"])
            for each in changes.key_changes("classPeriods", *window)
        ]

    assert found() == [("P1", "P4", changes.newest())]
    assert found(0, second) == [("P1", "P3", second)]
    assert found(first + 1, second) == [("P2", "P3", second)]
    assert found(changes.newest() + 1) == []


def test_resources_with_a_fixed_identity_have_no_key_changes(api, changes):
    assert changes.key_changes("students") == []
    assert changes.key_changes("sexDescriptors") == []


def test_referrers_updated_by_a_cascade_are_listed(api, changes, documents, resource_named):
    """Also of resources whose identity clients cannot change."""
    documents.store(resource_named("StudentSectionAssociation"))
    section = Document.objects.get(resource_type__name="Section")
    course_offering = Document.objects.get(resource_type__name="CourseOffering")
    session = Document.objects.get(resource_type__name="Session")

    rename(api, f"/sessions/{session.document_uuid}", sessionName="Autumn")

    assert not resource_named("CourseOffering").allows_identity_updates
    (followed,) = changes.key_changes("courseOfferings")
    assert followed["id"] == str(course_offering.document_uuid)
    assert followed["oldKeyValues"]["sessionName"] == "Value"
    assert followed["newKeyValues"] == followed["oldKeyValues"] | {"sessionName": "Autumn"}
    assert changes.key_changes("sections")[0]["id"] == str(section.document_uuid)
    assert len(changes.key_changes("studentSectionAssociations")) == 1


def test_key_changes_come_in_the_order_of_their_last_version_by_page_and_counted(api, changes, period):
    others = [
        item_path(api.post("/classPeriods", {"classPeriodName": name, "schoolReference": {"schoolId": 1008}}))
        for name in ("Q1", "R1")
    ]
    for path, name in [(period, "P2"), (others[0], "Q2"), (others[1], "R2"), (period, "P3")]:
        rename(api, path, classPeriodName=name)

    response = api.get("/classPeriods/keyChanges?limit=2&offset=1&totalCount=true")

    assert response["Total-Count"] == "3"
    assert [each["newKeyValues"]["classPeriodName"] for each in response.json()] == ["R2", "P3"]


def test_the_old_key_of_a_changed_document_is_no_delete(api, changes, period):
    rename(api, period, classPeriodName="P2")

    assert changes.deletes("classPeriods") == []


def test_a_deleted_key_that_another_document_has_taken_is_no_longer_listed(api, changes, period):
    other = {"classPeriodName": "Q1", "schoolReference": {"schoolId": 1008}}
    api.delete(item_path(api.post("/classPeriods", other)))
    assert len(changes.deletes("classPeriods")) == 1

    rename(api, period, classPeriodName="Q1")

    assert changes.deletes("classPeriods") == []
