"""Names of members in another case: read where that is promised, otherwise refused, and never dropped in silence."""

import json
from urllib.parse import urlencode

import pytest

from edfi_api.core.models import Document
from edfi_api.core.security.clients import create_client
from tests.conftest import http, item_path
from tests.support.factories import STUDENT

STRICT = {"HTTP_PREFER": "handling=strict"}
ALIAS = {
    "firstName": "A",
    "lastSurname": "B",
    "otherNameTypeDescriptor": "uri://ed-fi.org/OtherNameTypeDescriptor#Alias",
}


@pytest.fixture
def any_case(settings):
    settings.EDFI_API = settings.EDFI_API | {"MEMBERS_IN_ANY_CASE": True}


@pytest.fixture
def api_with_names(api):
    """A client of a database with the descriptor of a student's other name."""
    alias = {"namespace": "uri://ed-fi.org/OtherNameTypeDescriptor", "codeValue": "Alias", "shortDescription": "Alias"}
    assert api.post("/otherNameTypeDescriptors", alias).status_code == 201
    return api


def errors(response):
    assert response.status_code == 400, response.content
    return response.json()["validationErrors"]


def body_of(response):
    return Document.objects.get(document_uuid=response["Location"].rpartition("/")[2]).body


def capitalised(value):
    if isinstance(value, dict):
        return {name[0].upper() + name[1:]: capitalised(child) for name, child in value.items()}
    return [capitalised(item) for item in value] if isinstance(value, list) else value


def test_a_member_in_another_case_is_refused_with_its_right_spelling(api):
    response = api.post("/students", STUDENT | {"MaidenName": "Reyes", "shoeSize": 40})

    assert errors(response) == {
        "$.MaidenName": ["MaidenName is not a member of this resource; its name is spelt maidenName."]
    }
    assert response.json()["hints"] == [
        '$.MaidenName: "MaidenName" was sent; names are case-sensitive. Write maidenName.',
        "$.shoeSize: the resource has no such member; it is ignored.",
    ]
    assert not Document.objects.filter(resource_type__name="Student").exists()


def test_all_else_that_is_wrong_is_reported_with_it(api):
    body = {"StudentUniqueId": "1", "firstName": "", "birthdate": "soon", "lastSurname": "Ortiz", "middlename": None}

    assert errors(api.post("/students", body)) == {
        "$.StudentUniqueId": ["StudentUniqueId is not a member of this resource; its name is spelt studentUniqueId."],
        "$.birthdate": ["birthdate is not a member of this resource; its name is spelt birthDate."],
        "$.firstName": ["firstName is required and should not be left empty."],
        "$.birthDate": ["birthDate should be of type date."],
    }


def test_members_at_any_depth_are_refused(api_with_names):
    items = [ALIAS, {("MIDDLENAME" if name == "lastSurname" else name): value for name, value in ALIAS.items()}]

    assert errors(api_with_names.post("/students", STUDENT | {"otherNames": items})) == {
        "$.otherNames[1].MIDDLENAME": ["MIDDLENAME is not a member of this resource; its name is spelt middleName."],
        "$.otherNames[1].lastSurname": ["lastSurname is required."],
    }


def test_what_the_api_adds_and_what_has_no_value_may_come_in_any_case(api, documents, resource_named):
    resource = resource_named("StudentSchoolAssociation")
    documents.store(resource)
    [read] = api.get("/studentSchoolAssociations").json()
    read["_ETag"] = read.pop("_etag")
    read["studentReference"]["Link"] = read["studentReference"].pop("link")

    response = api.put(f"/studentSchoolAssociations/{read['id']}", read | {"EntryTYPEDescriptor": None})

    assert response.status_code == 204, response.content
    assert "Lenient-Handling" not in response


def test_the_id_of_an_update_in_another_case(api, settings):
    path, body = item_path(api.post("/students", STUDENT)), STUDENT | {"Id": "0" * 32}
    own = STUDENT | {"ID": path.rpartition("/")[2]}

    assert errors(api.put(path, own)) == {"$.ID": ["ID is not a member of this resource; its name is spelt id."]}
    settings.EDFI_API = settings.EDFI_API | {"MEMBERS_IN_ANY_CASE": True, "PUT_WITHOUT_ID": True}
    assert api.put(path, own).status_code == 204
    assert api.put(path, body).json()["errors"] == ["Request body id must match the id in the url."]


@pytest.mark.usefixtures("any_case")
class TestInAnyCase:
    def test_members_at_every_depth_are_stored_under_their_names(self, api_with_names):
        body = STUDENT | {"otherNames": [ALIAS]}

        response = api_with_names.post("/students", capitalised(body))

        assert response.status_code == 201, response.content
        assert body_of(response) == body
        assert response["Lenient-Handling"].startswith('"$.StudentUniqueId";reason=other-case')
        assert '"$.OtherNames[0].FirstName";reason=other-case' in response["Lenient-Handling"]
        assert api_with_names.post("/students", body).status_code == 200

    def test_strict_handling_refuses_them(self, api):
        response = api.post("/students", STUDENT | {"MaidenName": "Reyes"}, **STRICT)

        assert errors(response) == {
            "$.MaidenName": ["MaidenName is spelt in another case than the member of this resource."]
        }

    def test_two_spellings_are_refused_by_both_names(self, api):
        body = STUDENT | {"Firstname": "Ida", "middleName": None, "MiddleName": "Lea"}

        assert errors(api.post("/students", body)) == {
            "$.Firstname": ["Firstname and firstName are two spellings of one member; only one of them can be sent."]
        }

    def test_values_are_checked_under_the_names_of_the_resource(self, api):
        response = api.post("/students", capitalised(STUDENT | {"birthDate": "2010-02-30"}))

        assert errors(response) == {"$.birthDate": ["birthDate should be of type date."]}
        assert response.json()["hints"] == [
            '$.birthDate: "2010-02-30" was sent. There is no such day: February 2010 has 28 days.'
        ]


def test_available_change_versions_with_capitals_for_clients_of_the_ods(api, settings):
    without = api.get("/changeQueries/v1/availableChangeVersions").json()
    settings.EDFI_API = settings.EDFI_API | {"COMPATIBILITY": "ods"}
    versions = api.get("/changeQueries/v1/availableChangeVersions").json()

    assert list(without) == ["oldestChangeVersion", "newestChangeVersion"]
    assert versions == without | {
        "OldestChangeVersion": without["oldestChangeVersion"],
        "NewestChangeVersion": without["newestChangeVersion"],
    }


@pytest.fixture
def credentials(db):
    found = create_client("names", "EdFiSandbox", education_organization_ids=[255901001, 255901])
    return {"Grant_Type": "client_credentials", "CLIENT_ID": found.key, "Client_Secret": found.secret}


def requested(fields, media_type):
    text = json.dumps(fields) if media_type == "application/json" else urlencode(fields)
    return http().post("/oauth/token", text, content_type=media_type)


@pytest.mark.parametrize("media_type", ["application/json", "application/x-www-form-urlencoded"])
def test_parameters_of_a_token_are_read_in_any_case(credentials, media_type):
    response = requested(credentials | {"Scope": "255901001"}, media_type)

    assert response.status_code == 200, response.content
    assert response.json()["scope"] == "255901001"
    assert requested(credentials | {"SCOPE": "1"}, media_type).json()["error"] == "invalid_scope"


@pytest.mark.parametrize("media_type", ["application/json", "application/x-www-form-urlencoded"])
def test_two_spellings_of_a_parameter_are_refused(credentials, media_type):
    response = requested(credentials | {"Scope": "255901001", "scope": "255901"}, media_type)

    assert response.status_code == 400
    assert response.json() == {
        "error": "invalid_request",
        "error_description": "The parameter scope was sent more than once.",
    }


def test_two_spellings_of_the_inspected_token_are_refused(api):
    inspected = {"Token": api.token}

    def answer(fields):
        headers = {"HTTP_AUTHORIZATION": f"Bearer {api.token}"}
        return http().post("/oauth/token_info", json.dumps(fields), content_type="application/json", **headers)

    assert answer(inspected).status_code == 200
    assert answer(inspected | {"token": api.token}).status_code == 400
