"""Values as people and programs write them: read in one way, or refused with the form to write; in bodies, references,
keys and filters alike."""

from urllib.parse import urlencode

import pytest

from edfi_api.core.documents.document_validator import DocumentValidator
from edfi_api.core.models import Document
from tests.conftest import item_path
from tests.support.factories import STUDENT

STRICT = {"HTTP_PREFER": "handling=strict"}
COURSE = {
    "courseCode": "C1",
    "courseTitle": "A",
    "numberOfParts": 1,
    "educationOrganizationReference": {"educationOrganizationId": 1},
    "identificationCodes": [{"identificationCode": "1", "courseIdentificationSystemDescriptor": "uri://a#b"}],
}
OTHER_FORM = "is not in the form in which its value is stored."


def hints(response):
    assert response.status_code == 400, response.content
    return response.json()["hints"]


def stored_student():
    return Document.objects.get(resource_type__name="Student").body


@pytest.fixture
def enrolment(api, documents, resource_named):
    """The body of an enrolment whose targets are stored."""
    resource = resource_named("StudentSchoolAssociation")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)
    return body


@pytest.fixture
def schedule(api, documents, resource_named):
    """The body of a bell schedule whose targets are stored."""
    resource = resource_named("BellSchedule")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)
    return body


@pytest.mark.parametrize(
    "date",
    [
        "2021-8-1",
        "2021/8/1",
        "2021-8-01",
        "2021.08.01",
        "20210801",
        "01-AUG-2021",
        "1 August 2021",
        "Aug 1, 2021",
        " 2021-08-01",
        "2021-08-01\u00a0",
        "\ufeff2021-08-01",
        "2021-8-1 00:00:00",
    ],
)
def test_a_date_that_can_be_read_in_one_way_is_read_and_reported(api, date):
    response = api.post("/students", STUDENT | {"birthDate": date})

    assert response.status_code == 201, response.content
    assert response["Lenient-Handling"] == '"$.birthDate";reason=other-form'
    assert stored_student()["birthDate"] == "2021-08-01"
    found = api.get("/students", QUERY_STRING=urlencode({"birthDate": date}))
    assert len(found.json()) == 1
    assert found["Lenient-Handling"] == '"$.birthDate";reason=other-form'
    assert api.get("/students", QUERY_STRING=urlencode({"birthDate": date}), **STRICT).status_code == 400
    strictly = api.post("/students", STUDENT | {"birthDate": date}, **STRICT)
    assert strictly.json()["validationErrors"] == {"$.birthDate": [f"birthDate {OTHER_FORM}"]}


@pytest.mark.parametrize(("date", "stored"), [("08-25-2021", "2021-08-25"), ("25.8.2021", "2021-08-25")])
def test_of_hyphens_and_dots_the_only_possible_order_is_read(api, date, stored):
    assert api.post("/students", STUDENT | {"birthDate": date}).status_code == 201
    assert stored_student()["birthDate"] == stored


@pytest.mark.parametrize(
    ("date", "advice"),
    [
        ("08-01-2021", "It can be read in two ways: write 2021-08-01 or 2021-01-08."),
        ("1.8.2021", "It can be read in two ways: write 2021-01-08 or 2021-08-01."),
        ("08-01-21", "It can be read in three ways: write 2021-08-01 or 2021-01-08 or 2008-01-21."),
        ("01-AUG-21", "It can be read in two ways: write 2021-08-01 or 2001-08-21."),
        ("08012021", "It can be read in two ways: write 2021-08-01 or 2021-01-08."),
        ("2021-02-30", "There is no such day: February 2021 has 28 days."),
        ("2/30/2021", "There is no such day: February 2021 has 28 days."),
        ("20211301", "There is no such day: there is no month 13."),
        ("yesterday", "Expected is a date like 2026-01-05."),
    ],
)
def test_other_dates_are_refused_with_what_to_write(api, date, advice):
    assert hints(api.post("/students", STUDENT | {"birthDate": date})) == [f'$.birthDate: "{date}" was sent. {advice}']
    assert advice in hints(api.get("/students", QUERY_STRING=urlencode({"birthDate": date})))[0]


@pytest.mark.parametrize(
    ("time", "stored", "is_reported"),
    [
        ("08:15:00", "08:15:00", False),
        ("08:15:00.000", "08:15:00", False),
        ("08:15", "08:15:00", True),
        ("0815", "08:15:00", True),
        ("10:00:00Z", "10:00:00", True),
        ("8:15 PM", "20:15:00", True),
        (" 12:05:00 am ", "00:05:00", True),
    ],
)
def test_times_are_read_on_the_clock_of_24_hours_or_with_am_and_pm(api, schedule, time, stored, is_reported):
    response = api.post("/bellSchedules", schedule | {"startTime": time})

    assert response.status_code == 201, response.content
    assert api.get(item_path(response)).json()["startTime"] == stored
    assert ("Lenient-Handling" in response) is is_reported


@pytest.mark.parametrize(
    ("time", "advice"),
    [
        ("8:05", "It can be read in two ways: write 08:05:00 or 20:05:00."),
        ("10:00:00-05:00", "Write the time where it is, without a zone: 10:00:00."),
        ("25:00", "Expected is a time of day like 08:15:00."),
    ],
)
def test_other_times_are_refused_with_what_to_write(api, schedule, time, advice):
    assert hints(api.post("/bellSchedules", schedule | {"startTime": time})) == [
        f'$.startTime: "{time}" was sent. {advice}'
    ]


def test_blanks_around_values_are_read_everywhere_and_reported(api, enrolment):
    grade = enrolment["entryGradeLevelDescriptor"]
    school = enrolment["schoolReference"]["schoolId"]
    body = enrolment | {
        "schoolReference": {"schoolId": f"{school} "},
        "primarySchool": " True",
        "fullTimeEquivalency": "0.5\t",
        "entryGradeLevelDescriptor": f" {grade}",
        "entryDate": "2021-08-01 ",
    }

    response = api.post("/studentSchoolAssociations", body)

    assert response.status_code == 201, response.content
    read = api.get(item_path(response)).json()
    assert read["schoolReference"]["schoolId"] == school
    assert (read["primarySchool"], read["fullTimeEquivalency"], read["entryDate"]) == (True, 0.5, "2021-08-01")
    assert read["entryGradeLevelDescriptor"] == grade
    assert response["Lenient-Handling"].count("reason=other-form") == 5
    query = {
        "schoolId": f" {school}",
        "entryDate": "2021-08-01 ",
        "primarySchool": "true ",
        "entryGradeLevelDescriptor": f"{grade} ",
    }
    found = api.get("/studentSchoolAssociations", QUERY_STRING=urlencode(query))
    assert len(found.json()) == 1
    assert found["Lenient-Handling"].count("reason=other-form") == 4
    assert api.get("/studentSchoolAssociations", QUERY_STRING=urlencode(query), **STRICT).status_code == 400


def test_a_number_with_a_comma_is_refused_with_what_to_write(api, enrolment):
    body = enrolment | {"schoolReference": {"schoolId": "255,901"}, "fullTimeEquivalency": "0,5"}

    assert hints(api.post("/studentSchoolAssociations", body)) == [
        '$.schoolReference.schoolId: "255,901" was sent. Write 255901.',
        '$.fullTimeEquivalency: "0,5" was sent. It can be read in two ways: write 05 or 0.5.',
    ]


@pytest.mark.parametrize("value", [1.12345, "1.12345", "0.00001"])
def test_more_decimal_places_than_the_model_has_are_refused(api, enrolment, value):
    response = api.post("/studentSchoolAssociations", enrolment | {"fullTimeEquivalency": value})

    assert response.json()["validationErrors"] == {
        "$.fullTimeEquivalency": ["fullTimeEquivalency must have at most 4 decimal places."]
    }
    assert hints(response) == ["$.fullTimeEquivalency: Round it to 4 decimal places."]


@pytest.mark.parametrize("value", [0.1234, "0.12340000", 1, "1.0", 0.3])
def test_zeros_at_the_end_are_no_decimal_places(api, enrolment, value):
    assert api.post("/studentSchoolAssociations", enrolment | {"fullTimeEquivalency": value}).status_code == 201


@pytest.mark.parametrize("text", ["\u200b", "\u200b\u2060 ", "\u3164", "\u2800", "\u00ad\u0001"])
def test_a_required_text_that_shows_nothing_is_refused(api, text):
    for name in ("firstName", "studentUniqueId"):
        response = api.post("/students", STUDENT | {name: text})

        assert response.json()["validationErrors"] == {
            f"$.{name}": [f"{name} is required and should not be left empty."]
        }


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "\n"])
def test_an_optional_text_that_shows_nothing_is_absent(api, text):
    response = api.post("/students", STUDENT | {"middleName": text})

    assert response.status_code == 201, response.content
    assert stored_student() == STUDENT
    assert api.post("/students", STUDENT).status_code == 200


def test_a_text_keeps_its_blanks_and_invisible_parts(api):
    names = {"middleName": " Mae\n", "firstName": "👩\u200d👧 "}

    assert api.post("/students", STUDENT | names).status_code == 201
    assert stored_student() == STUDENT | names


def test_with_the_ods_more_decimal_places_are_rounded(resource_named):
    validator = DocumentValidator(resource_named("Course"), is_like_ods=True)
    body = validator.valid_new(COURSE | {"minimumAvailableCredits": 1.2345, "maximumAvailableCredits": 2.0004})

    assert (body["minimumAvailableCredits"], body["maximumAvailableCredits"]) == (1.235, 2)
