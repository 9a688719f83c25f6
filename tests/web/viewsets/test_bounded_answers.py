"""Answers to requests with many violations list a bounded number of them, and say that there are more."""

import json

import pytest
from django.test.utils import CaptureQueriesContext

from edfi_api.core.documents.json_text import MOST_REFERENCES, MOST_VALUES
from tests.support.databases import connection

STUDENT = {"studentUniqueId": "1", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
THERE_ARE_MORE = ["Only the first 100 are listed; there are more."]


def student_with(text):
    """The JSON text of a student with these members added."""
    return json.dumps(STUDENT)[:-1] + f", {text}}}"


def test_of_many_violations_the_first_hundred_are_listed(api):
    response = api.post("/students", STUDENT | {"otherNames": [{"firstName": 1}] * 101})

    problem = response.json()
    assert response.status_code == 400
    assert sum(map(len, problem["validationErrors"].values())) == 100
    assert problem["validationErrors"]["$.otherNames[0].firstName"] == [
        'firstName Value is "integer" but should be "string"'
    ]
    assert problem["errors"] == THERE_ARE_MORE


def test_a_hundred_violations_are_listed_completely(api):
    names = [{"otherNameTypeDescriptor": "uri://ed-fi.org/OtherNameTypeDescriptor#A", "lastSurname": "B"}] * 100

    problem = api.post("/students", STUDENT | {"otherNames": names}).json()

    assert list(problem["validationErrors"]) == [f"$.otherNames[{index}].firstName" for index in range(100)]
    assert problem["errors"] == []


def test_of_many_repeated_properties_the_first_are_listed(api):
    repeated = ", ".join('{"a": 1, "a": 2}' for _ in range(150))

    problem = api.post("/students", student_with(f'"unknown": [{repeated}]')).json()

    assert len(problem["validationErrors"]) == 100
    assert "$.unknown[99].a" in problem["validationErrors"]
    assert problem["errors"] == THERE_ARE_MORE


def test_a_long_name_of_a_repeated_property_is_truncated(api):
    name = "n" * 5000

    problem = api.post("/students", student_with(f'"{name}": 1, "{name}": 2')).json()

    assert [len(path) < 200 for path in problem["validationErrors"]] == [True]


def test_of_many_nul_characters_the_first_are_listed(api, documents, resource_named):
    student = documents.minimal_body(resource_named("Student"))
    names = [
        {"otherNameTypeDescriptor": f"uri://ed-fi.org/OtherNameTypeDescriptor#{number}",
         "firstName": f"a\0{number}", "lastSurname": "Ortiz"}
        for number in range(150)
    ]  # fmt: skip

    problem = api.post("/students", student | {"otherNames": names}).json()

    assert len(problem["validationErrors"]) == 100
    assert problem["validationErrors"]["$.otherNames[99].firstName"] == ["firstName cannot contain the NUL character."]
    assert problem["errors"] == THERE_ARE_MORE


def test_of_many_missing_targets_the_first_are_listed(api, documents, resource_named):
    action = documents.minimal_body(resource_named("DisciplineAction"))
    documents.store_targets(resource_named("DisciplineAction"), action)
    staffs = [{"staffReference": {"staffUniqueId": f"nobody{number}"}} for number in range(150)]

    response = api.post("/disciplineActions", action | {"staffs": staffs})

    problem = response.json()
    assert response.status_code == 409
    assert list(problem["validationErrors"]) == [f"$.staffs[{index}].staffReference" for index in range(100)]
    assert problem["errors"] == THERE_ARE_MORE


def test_any_number_of_unknown_descriptors_takes_the_same_queries(api, documents, resource_named):
    school = documents.minimal_body(resource_named("School"))
    documents.store_targets(resource_named("School"), school)
    of_another_type = school["educationOrganizationCategories"][0]["educationOrganizationCategoryDescriptor"]

    def refused(number):
        """The errors for this number of descriptors, the first of another type, and the number of queries."""
        uris = [of_another_type, *(f"uri://ed-fi.org/GradeLevelDescriptor#{index}" for index in range(1, number))]
        with CaptureQueriesContext(connection) as queries:
            response = api.post("/schools", school | {"gradeLevels": [{"gradeLevelDescriptor": uri} for uri in uris]})
        assert response.status_code == 400
        return response.json()["validationErrors"], len(queries)

    refused(2)  # Fills the caches.
    few, queries_of_few = refused(2)
    many, queries_of_many = refused(20)

    assert queries_of_many == queries_of_few
    assert [texts[0].rsplit("' ")[1] for texts in few.values()] == [
        "is not a valid GradeLevelDescriptor.",
        "does not exist.",
    ]
    assert len(many) == 20


@pytest.mark.parametrize(
    "number",
    [
        "1.00000000000000001e-100000",
        "1.00000000000000001e-200000000",
        "1e-5000",
        "1E-200000000",
        "0e99999999",
        "0." + "1" * 101,
    ],
    ids=lambda number: number[-12:],
)
@pytest.mark.parametrize("member", ["cumulativeEarnedCredits", "unknown"])
def test_a_number_with_too_many_digits_is_refused(api, documents, resource_named, member, number):
    body = json.dumps(documents.minimal_body(resource_named("StudentAcademicRecord")) | {member: "NUMBER"})

    response = api.post("/studentAcademicRecords", body.replace('"NUMBER"', number))

    assert response.status_code == 400
    [message] = response.json()["validationErrors"]["$."]
    assert message.startswith(f"The request body is not a valid JSON object: the number {number[:40]}")
    assert message.endswith("has more than 100 digits, or more than 3 in its exponent")


@pytest.mark.parametrize("number", ["1.7976931348623157e+308", "5e-324", "2.2250738585072014e-308"])
def test_every_double_may_be_sent(api, number):
    assert api.post("/students", student_with(f'"unknown": {number}')).status_code == 201


def test_a_body_with_very_many_values_is_too_large(api):
    response = api.post("/students", student_with(f'"unknown": [{"1," * MOST_VALUES}1]'))

    assert response.status_code == 413
    assert (
        response.json()["detail"] == "The request body has more than 100000 values, which this server does not accept."
    )


def test_a_body_with_very_many_references_is_too_large(api, documents, resource_named):
    action = documents.minimal_body(resource_named("DisciplineAction"))
    staffs = [{"staffReference": {"staffUniqueId": f"S{number}"}} for number in range(MOST_REFERENCES + 1)]

    response = api.post("/disciplineActions", action | {"staffs": staffs})

    assert response.status_code == 413
    assert response.json()["detail"] == (
        "The request body has more than 10000 references, which this server does not accept."
    )


@pytest.mark.parametrize("sent", ["1" * 30, "201002031", "2010-02-03T08:00:00." + "0" * 5000, "2010-W05-3"])
def test_text_that_resembles_a_date_is_refused(api, sent):
    response = api.post("/students", STUDENT | {"birthDate": sent})

    assert response.json()["validationErrors"] == {"$.birthDate": ["birthDate should be of type date."]}


def test_a_long_value_in_a_query_is_not_repeated_in_full(api):
    response = api.get(f"/students?birthDate={'1' * 5000}")

    assert response.status_code == 400
    assert len(response.content) < 2000
