"""The problems of refused operations have the hints of the single requests."""

import pytest

from tests.web.batch.operations import DESCRIPTORS, ED_FI, enrolment, school, student


@pytest.fixture
def schooled(batch):
    """Store a school, a student, and what they need."""
    batch.results([*DESCRIPTORS, school(1), student(1)])
    return batch


def hints(result):
    return "\n".join(result["problem"].get("hints", []))


def test_operations_on_their_own_have_hints_that_name_what_is_stored(schooled):
    near = enrolment(1, entryGradeLevelDescriptor=f"{ED_FI}/GradeLevelDescriptor#Ninth grad")
    unknown, late, missing, other, typed = schooled.independent(
        near,
        student(2, birthDate="tomorrow"),
        enrolment(9),
        student(4) | {"resource": "/ed-fi/studentz"},
        student(3, frstName="Ida", birthDate="soon"),
    )

    assert '#Ninth grade"?' in hints(unknown)
    assert '$.birthDate: "tomorrow" was sent.' in hints(late)
    assert 'there is no Student with studentUniqueId "S9". Correct the key' in hints(missing)
    assert "Did you mean /ed-fi/students" in hints(other)
    assert "$.frstName: the resource has no such member; it is ignored. Did you mean firstName?" in hints(typed)


def test_operations_of_an_atomic_batch_have_hints_about_what_was_sent(schooled):
    near = enrolment(1, entryGradeLevelDescriptor=f"{ED_FI}/GradeLevelDescriptor#Ninth grad")

    response = schooled.send([near, student(2, birthDate="soon")])

    failed = response.json()["failedOperations"]

    assert "GET /ed-fi/gradeLevelDescriptors lists those that exist." in hints(failed[0])
    assert "Did you mean" not in hints(failed[0])
    assert '$.birthDate: "soon" was sent.' in hints(failed[1])


def test_the_first_ten_refused_operations_have_hints(schooled):
    results = schooled.independent(*[student(number, birthDate="soon") for number in range(12)])

    assert [bool(hints(result)) for result in results] == [True] * 10 + [False] * 2


def test_a_natural_key_of_nothing_has_no_hint_about_an_id(schooled):
    [result] = schooled.independent(
        {"op": "delete", "resource": "/ed-fi/students", "naturalKey": {"studentUniqueId": "S9"}}
    )

    assert (result["status"], hints(result)) == (404, "")
