"""Names in another case in batches: as in single requests, in documents and in natural keys."""

import pytest

from edfi_api.core.models import Document
from tests.web.batch.operations import student


def with_other_name(operation, old, new):
    document = {(new if name == old else name): value for name, value in operation["document"].items()}
    return operation | {"document": document}


@pytest.fixture
def any_case(settings):
    settings.EDFI_API = settings.EDFI_API | {"MEMBERS_IN_ANY_CASE": True}


@pytest.mark.parametrize("mode", ["independent", "atomic"])
def test_a_member_in_another_case_refuses_its_operation(batch, mode):
    results = batch.send([with_other_name(student(1), "firstName", "FirstName")], mode=mode)

    assert b"FirstName is not a member of this resource; its name is spelt firstName." in results.content
    assert not Document.objects.filter(resource_type__name="Student").exists()


def test_a_natural_key_in_another_case_is_refused_by_its_right_spelling(batch):
    [result] = batch.independent(
        {"op": "delete", "resource": "/ed-fi/students", "naturalKey": {"StudentUniqueId": "S1"}}
    )

    assert result["problem"]["validationErrors"] == {
        "$.naturalKey.StudentUniqueId": [
            "StudentUniqueId is not a member of this resource; its name is spelt studentUniqueId."
        ]
    }


@pytest.mark.usefixtures("any_case")
@pytest.mark.parametrize("mode", ["independent", "atomic"])
def test_members_and_keys_are_read_in_any_case(batch, mode):
    """Two documents of one key are written one after the other, whatever the case of its name."""
    first, second = student(1), with_other_name(student(1, firstName="Ida"), "studentUniqueId", "STUDENTUNIQUEID")
    key = {"StudentUniqueID": "S2"}
    operations = [first, second, student(2), {"op": "delete", "resource": "/ed-fi/students", "naturalKey": key}]

    results = batch.results(operations, mode=mode)

    assert [result["status"] for result in results] == [201, 200, 201, 204]
    [stored] = Document.objects.filter(resource_type__name="Student").values_list("body", flat=True)
    assert stored == {"studentUniqueId": "S1", "birthDate": "2010-01-13", "firstName": "Ida", "lastSurname": "Ortiz"}


@pytest.mark.usefixtures("any_case")
def test_the_id_of_an_update_in_another_case_is_compared(batch):
    [created] = batch.independent(student(1))
    update = student(1, firstName="Ida") | {"op": "update", "id": created["id"]}

    statuses = batch.statuses(
        update | {"document": update["document"] | {"Id": created["id"]}},
        update | {"document": update["document"] | {"Id": "0" * 32}},
        update | {"document": update["document"] | {"id": created["id"].replace("-", "")}},
    )

    assert statuses == [204, 400, 204]
