"""Bodies with small errors: coerced where Ed-Fi specifies it, otherwise refused with all reasons at once."""

import json
import re
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from edfi_api.core.models import Document
from tests.conftest import item_path
from tests.support.factories import STUDENT


def stored(api, body):
    response = api.post("/students", body)
    assert response.status_code == 201, response.content
    return Document.objects.get().body


def refusal(api, body, endpoint="/students"):
    response = api.post(endpoint, body)
    assert response.status_code == 400, response.content
    return response.json()["validationErrors"]


def test_unknown_members_are_dropped_at_any_depth(api):
    body = STUDENT | {"shoeSize": 40, "personReference": None, "_ext": {"sample": {"a": 1}}}

    assert stored(api, body) == STUDENT


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ({"birthDate": "2/3/2010"}, {"birthDate": "2010-02-03"}),
        ({"birthDate": "02/03/10"}, {"birthDate": "2010-02-03"}),
        ({"birthDate": "23/2/2010"}, {"birthDate": "2010-02-23"}),
        ({"birthDate": "2010/02/03"}, {"birthDate": "2010-02-03"}),
        ({"birthDate": "2010-02-03T10:00:00Z"}, {"birthDate": "2010-02-03"}),
        ({"birthDate": "2010/02/03 10:00:00"}, {"birthDate": "2010-02-03"}),
        ({"birthDate": "2/3/2010 11:30 PM"}, {"birthDate": "2010-02-03"}),
        ({"birthDate": "2010-02-03 11:30:00 PM"}, {"birthDate": "2010-02-03"}),
        ({"birthDate": "02/03/69"}, {"birthDate": "1969-02-03"}),
        ({"birthDate": "02/03/68"}, {"birthDate": "2068-02-03"}),
        ({"multipleBirthStatus": "TRUE"}, {"multipleBirthStatus": True}),
        ({"multipleBirthStatus": 0}, {"multipleBirthStatus": False}),
        ({"middleName": None, "otherNames": []}, {}),
        ({"otherNames": [{}]}, {}),
        ({"middleName": " kept as sent "}, {"middleName": " kept as sent "}),
        ({"firstName": "A\nB"}, {"firstName": "A\nB"}),
    ],
)
def test_values_are_normalised_to_their_type(api, sent, kept):
    assert stored(api, STUDENT | sent) == STUDENT | kept


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        ({"firstName": None}, "$.firstName", "firstName is required."),
        ({"firstName": ""}, "$.firstName", "firstName is required and should not be left empty."),
        ({"firstName": "  "}, "$.firstName", "firstName cannot contain leading or trailing spaces."),
        ({"studentUniqueId": " 1"}, "$.studentUniqueId", "studentUniqueId cannot contain leading or trailing spaces."),
        ({"firstName": "a" * 76}, "$.firstName", "firstName Value should be at most 75 characters"),
        ({"firstName": 5}, "$.firstName", 'firstName Value is "integer" but should be "string"'),
        (
            {"multipleBirthStatus": "maybe"},
            "$.multipleBirthStatus",
            'multipleBirthStatus Value is "string" but should be "boolean"',
        ),
        ({"birthDate": "soon"}, "$.birthDate", "birthDate should be of type date."),
        ({"birthDate": "2010-02-30"}, "$.birthDate", "birthDate should be of type date."),
        ({"birthDate": "2010/02/30"}, "$.birthDate", "birthDate should be of type date."),
        ({"birthDate": "2010/02-03"}, "$.birthDate", "birthDate should be of type date."),
        ({"birthDate": "13/13/2010"}, "$.birthDate", "birthDate should be of type date."),
        ({"birthDate": "2/3/0000"}, "$.birthDate", "birthDate should be of type date."),
        ({"birthDate": "2/3/2010 13:00 PM"}, "$.birthDate", "birthDate should be of type date."),
        ({"birthDate": "2/3/2010 25:00"}, "$.birthDate", "birthDate should be of type date."),
        ({"firstName": "a\0b"}, "$.firstName", "firstName cannot contain the NUL character."),
        ({"otherNames": {}}, "$.otherNames", 'otherNames Value is "object" but should be "array"'),
    ],
)
def test_values_of_the_wrong_type_are_refused_with_their_path(api, change, path, message):
    assert refusal(api, STUDENT | change) == {path: [message]}


def test_all_failures_of_a_body_are_reported_together(api):
    assert refusal(api, {"firstName": "", "birthDate": "soon", "otherNames": [{"firstName": "A"}]}).keys() == {
        "$.firstName",
        "$.birthDate",
        "$.lastSurname",
        "$.studentUniqueId",
        "$.otherNames[0].lastSurname",
        "$.otherNames[0].otherNameTypeDescriptor",
    }


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("2025/08/20T10:30:00Z", "2025-08-20T10:30:00Z"),
        ("2025/08/20T10:30:00-05:00", "2025-08-20T15:30:00Z"),
        ("2025/08/20 10:30:00", "2025-08-20T10:30:00Z"),
        ("2025/08/20 10:30:00 PM", "2025-08-20T22:30:00Z"),
        ("2025/08/20", "2025-08-20T00:00:00Z"),
        ("8/20/2025 12:15 AM", "2025-08-20T00:15:00Z"),
        ("8/20/2025 12:15:30 pm", "2025-08-20T12:15:30Z"),
        ("20/8/2025 9:05:00", "2025-08-20T09:05:00Z"),
        ("08/20/25", "2025-08-20T00:00:00Z"),
    ],
)
def test_other_notations_of_a_date_time_are_accepted(api, documents, resource_named, sent, kept):
    resource = resource_named("StudentAssessment")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)

    response = api.post("/studentAssessments", body | {"administrationDate": sent})

    assert response.status_code == 201, response.content
    assert api.get(item_path(response)).json()["administrationDate"] == kept
    assert len(api.get("/studentAssessments", QUERY_STRING=urlencode({"administrationDate": sent})).json()) == 1


def test_one_date_in_two_notations_is_one_key(api, documents, resource_named):
    resource = resource_named("StudentSchoolAssociation")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)

    spellings = ["8/20/2025", "2025/08/20", "2025-08-20"]
    answers = [api.post("/studentSchoolAssociations", body | {"entryDate": spelling}) for spelling in spellings]

    assert [answer.status_code for answer in answers] == [201, 200, 200]


def test_filters_accept_the_same_notations_of_dates_as_bodies(api):
    api.post("/students", STUDENT)

    assert len(api.get("/students?birthDate=2010/02/03").json()) == 1


def test_a_number_out_of_its_decimal_range_is_refused(api, documents, resource_named):
    body = documents.minimal_body(resource_named("Staff"), yearsOfPriorProfessionalExperience=1000)

    assert refusal(api, body, "/staffs") == {
        "$.yearsOfPriorProfessionalExperience": [
            "yearsOfPriorProfessionalExperience must be between -999.99 and 999.99."
        ]
    }


def test_decimals_are_returned_without_binary_rounding(api, documents, resource_named):
    body = documents.minimal_body(resource_named("Staff"), yearsOfPriorProfessionalExperience="1.10")

    response = api.post("/staffs", body)

    assert b'"yearsOfPriorProfessionalExperience": 1.1,' in api.get(response["Location"][17:]).content


@pytest.mark.parametrize("spelt", ["123456789012345.6789", '"123456789012345.6789"'])
def test_a_currency_keeps_nineteen_digits(api, documents, resource_named, spelt):
    resource = resource_named("DisciplineIncident")
    body = documents.minimal_body(resource, incidentCost=0.5)
    documents.store_targets(resource, body)
    text = json.dumps(body).replace('"incidentCost": 0.5', f'"incidentCost": {spelt}')

    response = api.post("/disciplineIncidents", text)

    assert response.status_code == 201, response.content
    served = api.get(response["Location"].removeprefix("http://testserver")).content
    assert re.search(rb'"incidentCost": ?123456789012345.6789', served)


def test_a_number_beyond_32_bits_is_refused_for_a_32_bit_property(api, documents, resource_named):
    body = documents.minimal_body(resource_named("Location"), maximumNumberOfSeats=2**31)

    assert refusal(api, body, "/locations") == {
        "$.maximumNumberOfSeats": ["maximumNumberOfSeats must be less than or equal to 2147483647."]
    }


def test_two_items_with_the_same_identifying_values_are_refused(api, documents, resource_named):
    level = {"gradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"}
    other_case = {"gradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#NINTH grade"}
    third = {"gradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Tenth grade"}
    body = documents.minimal_body(resource_named("School"), gradeLevels=[level, third, other_case])

    assert refusal(api, body, "/schools") == {
        "$.gradeLevels": [
            "The 3rd item of the gradeLevels has the same identifying values as another item earlier in the list."
        ]
    }


CONFLICTING_SCHOOLS = (
    "All values supplied for 'schoolId' must match. Review all references (including those higher up in the "
    "resource's data) and align the following conflicting values: {}"
)


def test_values_of_one_unified_key_must_agree(api, documents, resource_named):
    """Values are listed in the alphabetical order of their paths, not in the order of the body or of the values."""
    body = documents.minimal_body(resource_named("CourseOffering"))
    body["schoolReference"] = {"schoolId": 4410002}
    body["sessionReference"]["schoolId"] = 4410001

    message = CONFLICTING_SCHOOLS.format("'4410002', '4410001'")
    found = refusal(api, dict(reversed(body.items())), "/courseOfferings")
    assert list(found.items()) == [
        ("$.schoolReference.schoolId", [message]),
        ("$.sessionReference.schoolId", [message]),
    ]


def test_conflicting_values_in_arrays_are_listed_once_each(api, documents, resource_named):
    resource = resource_named("Section")
    body = documents.minimal_body(resource)
    offering = body["courseOfferingReference"]
    offering["schoolId"] = 5
    body["classPeriods"] = [
        {"classPeriodReference": {"classPeriodName": name, "schoolId": school}}
        for name, school in (("A", 9), ("B", 7), ("C", 9), ("D", 5))
    ]

    message = CONFLICTING_SCHOOLS.format("'9', '7', '5'")
    found = refusal(api, body, "/sections")
    assert found["$.classPeriods[*].classPeriodReference.schoolId"] == [message]
    assert found["$.courseOfferingReference.schoolId"] == [message]


def test_another_id_is_reported_before_conflicting_values(api, documents, resource_named):
    body = documents.minimal_body(resource_named("CourseOffering"), id=str(uuid4()))
    body["sessionReference"]["schoolId"] = 7

    response = api.put(f"/courseOfferings/{uuid4()}", body)

    assert response.json()["errors"] == ["Request body id must match the id in the url."]


def test_an_incomplete_reference_reports_its_missing_members(api, documents, resource_named):
    resource = resource_named("CourseOffering")
    body = documents.minimal_body(resource) | {"sessionReference": {"schoolId": 1}}

    assert refusal(api, body, "/courseOfferings").keys() == {
        "$.sessionReference.schoolYear",
        "$.sessionReference.sessionName",
    }


def test_an_empty_school_year_reference_reports_the_missing_year(api, documents, resource_named):
    resource = resource_named("Session")
    body = documents.minimal_body(resource) | {"schoolYearTypeReference": {}}

    assert refusal(api, body, "/sessions") == {"$.schoolYearTypeReference.schoolYear": ["schoolYear is required."]}


def test_all_missing_targets_are_reported_at_once(api, documents, resource_named):
    resource = resource_named("StudentSchoolAssociation")
    body = documents.minimal_body(resource)

    response = api.post("/studentSchoolAssociations", body)

    assert response.status_code == 400
    assert response.json()["validationErrors"].keys() == {
        "$.entryGradeLevelDescriptor",
        "$.schoolReference",
        "$.studentReference",
    }
