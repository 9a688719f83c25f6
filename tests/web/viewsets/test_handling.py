"""Strict handling on request or by setting, and the header that lists what was tolerated."""

import pytest

from edfi_api.core.models import Document
from tests.conftest import http, item_path
from tests.support.factories import STUDENT

STRICT = {"HTTP_PREFER": "handling=strict"}
UNKNOWN = "is not a member of this resource."


def errors(response):
    assert response.status_code == 400, response.content
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:bad-request:data-validation-failed"
    return problem["validationErrors"]


@pytest.fixture
def strict(settings):
    settings.EDFI_API = settings.EDFI_API | {"STRICT": True}


def test_strict_handling_refuses_unknown_members_by_path_with_all_else_that_is_wrong(api):
    body = STUDENT | {
        "shoeSize": 40,
        "lastSurname": None,
        "nothing": None,
        "otherNames": [{"firstName": "A", "lastSurname": "B", "otherNameTypeDescriptor": "uri://x#y", "nick": "C"}],
        "_ext": {"sample": {}},
    }

    response = api.post("/students", body, **STRICT)

    assert errors(response) == {
        "$.shoeSize": [f"shoeSize {UNKNOWN}"],
        "$.nothing": [f"nothing {UNKNOWN}"],
        "$.otherNames[0].nick": [f"nick {UNKNOWN}"],
        "$._ext": [f"_ext {UNKNOWN}"],
        "$.lastSurname": ["lastSurname is required."],
    }
    assert response["Preference-Applied"] == "handling=strict"
    assert not Document.objects.filter(resource_type__name="Student").exists()


@pytest.mark.parametrize("date", ["8/9/2010", "08/20/10", "8/9/2010 10:15 PM"])
def test_strict_handling_refuses_ambiguous_dates(api, date):
    response = api.post("/students", STUDENT | {"birthDate": date}, **STRICT)

    assert errors(response) == {"$.birthDate": ["birthDate is ambiguous; the form yyyy-MM-dd is not."]}


@pytest.mark.parametrize("date", ["8/20/2010", "20/8/2010", "8/8/2010", "2010/08/09", "2010-08-09"])
def test_other_dates_are_clear(api, date):
    response = api.post("/students", STUDENT | {"birthDate": date}, **STRICT)

    assert response.status_code == 201
    assert "Lenient-Handling" not in response


def test_the_setting_is_strict_with_every_request_and_clients_cannot_turn_it_off(api, strict):
    response = api.post("/students", STUDENT | {"shoeSize": 40}, HTTP_PREFER="handling=lenient")

    assert errors(response) == {"$.shoeSize": [f"shoeSize {UNKNOWN}"]}
    assert "Preference-Applied" not in response
    assert errors(api.get("/students?birthDate=8/9/2010")) == {
        "$.birthDate": ["The value '8/9/2010' is ambiguous for birthDate; the form yyyy-MM-dd is not."]
    }


def test_what_the_api_adds_can_be_sent_back(api, documents, resource_named):
    resource = resource_named("StudentSchoolAssociation")
    documents.store(resource)
    [read] = api.get("/studentSchoolAssociations").json()
    assert {"id", "_etag", "_lastModifiedDate"} <= read.keys()
    assert "link" in read["schoolReference"]

    response = api.put(f"/studentSchoolAssociations/{read['id']}", read, **STRICT)

    assert response.status_code == 204, response.content
    assert errors(
        api.put(f"/studentSchoolAssociations/{read['id']}", read | {"link": {}, "schoolYear": {"id": 1}}, **STRICT)
    ) == {"$.link": [f"link {UNKNOWN}"], "$.schoolYear": [f"schoolYear {UNKNOWN}"]}


def test_a_put_is_strict_too_and_lists_the_missing_id_with_the_rest(api):
    path = item_path(api.post("/students", STUDENT))

    assert errors(api.put(path, STUDENT | {"shoeSize": 40}, **STRICT)) == {
        "$.id": ["id is required."],
        "$.shoeSize": [f"shoeSize {UNKNOWN}"],
    }


def test_lenient_handling_lists_what_it_tolerated(api):
    body = STUDENT | {"shoeSize": 40, "birthDate": "8/9/2010", 'a"\\b': 1, "größe": 2, "line\nbreak": 3}

    response = api.post("/students", body)

    assert response.status_code == 201
    assert response["Lenient-Handling"] == (
        '"$.birthDate";reason=ambiguous-date, "$.shoeSize";reason=unknown-member, '
        '"$.a\\"\\\\b";reason=unknown-member, %"$.gr%c3%b6%c3%9fe";reason=unknown-member, '
        '%"$.line%0abreak";reason=unknown-member'
    )
    assert "Preference-Applied" not in response
    again = api.put(item_path(response), body | {"id": item_path(response).rsplit("/", 1)[1]})
    assert again["Lenient-Handling"] == response["Lenient-Handling"]


def test_the_header_is_bounded(api):
    many = api.post("/students", STUDENT | {f"m{number}": 1 for number in range(5_000)})
    long = api.post("/students", STUDENT | {f"{number}{'x' * 50_000}": 1 for number in range(50)})

    assert many["Lenient-Handling"].count("reason=") == 20
    assert many["Lenient-Handling"].endswith(', "$.m19";reason=unknown-member, more')
    assert len(long["Lenient-Handling"]) < 1_100
    assert long["Lenient-Handling"].endswith(", more")


def test_so_is_the_number_of_violations(api):
    found = errors(api.post("/students", STUDENT | {f"m{number}": 1 for number in range(5_000)}, **STRICT))

    assert len(found) == 100


@pytest.mark.parametrize(
    ("prefer", "status", "applied"),
    [
        ("Handling=Strict", 400, "handling=strict"),
        ('return=minimal; x="a, handling=lenient", handling="strict";q', 400, "handling=strict"),
        ("handling=lenient, handling=strict", 201, "handling=lenient"),
        ("handling = lenient", 201, "handling=lenient"),
        ("handling=gentle, handling=strict", 201, None),
        ("handling", 201, None),
        ("respond-async, wait=10", 201, None),
        ('"', 201, None),
        ("", 201, None),
    ],
)
def test_the_preference_is_read_as_the_rfc_says(api, prefer, status, applied):
    response = api.post("/students", STUDENT | {"shoeSize": 40}, HTTP_PREFER=prefer)

    assert response.status_code == status
    assert response.get("Preference-Applied") == applied


QUERY = "/studentSchoolAssociations?entryGradeLevelDescriptor="
FIELD = "$.entryGradeLevelDescriptor"


@pytest.mark.parametrize(
    ("value", "reason", "message"),
    [
        (
            "Ninth grade",
            "no-descriptor-uri",
            "The value 'Ninth grade' is not valid for entryGradeLevelDescriptor: it is not the URI of a descriptor.",
        ),
        (
            "uri://ed-fi.org/GradeLevelDescriptor%23Fifteenth",
            "unknown-descriptor",
            "GradeLevelDescriptor value 'uri://ed-fi.org/gradeleveldescriptor#fifteenth' does not exist.",
        ),
    ],
)
def test_a_filter_by_a_descriptor_that_is_none_is_refused_or_listed(api, value, reason, message):
    for path in (QUERY + value, (QUERY + value).replace("?", "/partitions?")):
        assert errors(api.get(path, **STRICT)) == {FIELD: [message]}
        lenient = api.get(path)
        assert lenient.status_code == 200
        assert lenient["Lenient-Handling"] == f'"{FIELD}";reason={reason}'


def test_a_filter_by_a_stored_descriptor_finds_nothing_quietly(api, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))
    grade = api.get("/studentSchoolAssociations").json()[0]["entryGradeLevelDescriptor"]

    response = api.get(QUERY + grade.replace("#", "%23").upper(), **STRICT)

    assert len(response.json()) == 1
    assert response["Preference-Applied"] == "handling=strict"
    assert "Lenient-Handling" not in response


def test_ignored_parameters_are_listed_and_refused_by_strict_handling(api, settings):
    settings.EDFI_API = settings.EDFI_API | {"IGNORE_UNKNOWN_PARAMETERS": True}

    assert api.get("/students?colour=red")["Lenient-Handling"] == '"colour";reason=unknown-parameter'
    refused = api.get("/students?colour=red", **STRICT)
    assert refused.status_code == 400
    assert refused.json()["errors"] == ["The query field 'colour' is not valid for this resource."]


def test_openapi_has_the_preference_and_the_headers(db):
    document = http().get("/metadata/specifications/resources-spec.json").json()
    operation = document["paths"]["/ed-fi/students"]["post"]

    assert {"$ref": "#/components/parameters/Prefer"} in operation["parameters"]
    assert document["components"]["parameters"]["Prefer"]["in"] == "header"
    headers = document["components"]["responses"]["Created"]["headers"]
    assert {"Lenient-Handling", "Preference-Applied"} <= headers.keys()
