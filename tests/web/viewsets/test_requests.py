"""Refusals before validation: paths, methods, media types, JSON, credentials."""

import json

import pytest
from django.test import Client

from edfi_api.core.storage.driver import prepared_statements
from tests.conftest import item_path
from tests.support.databases import connection
from tests.support.factories import STUDENT

SOME_ID = "01a1fddd-f0aa-7623-8e9f-0e09a8ec83a9"
# Tests of hints are elsewhere.
WITHOUT = {"correlationId": "", "hints": []}
NOT_FOUND = WITHOUT | {
    "detail": "The specified data could not be found.",
    "type": "urn:ed-fi:api:not-found",
    "title": "Not Found",
    "status": 404,
    "validationErrors": {},
    "errors": [],
}


@pytest.mark.parametrize(
    "path",
    [
        "/unknowns",
        "/educationOrganizations",
        "/generalStudentProgramAssociations",
        "/students/1/2",
        "/",
        "/unknowns/deletes",
        "/educationOrganizations/keyChanges",
    ],
)
def test_an_unknown_path_is_a_problem(api, path):
    response = api.get(path)

    assert response.status_code == 404
    assert response.json() | WITHOUT == NOT_FOUND


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", "/students"),
        ("delete", "/students"),
        ("get", "/data/v3/ed-fi/students"),
        ("get", "/gradeLevelDescriptors"),
        ("delete", "/gradeLevelDescriptors"),
        ("get", "/schoolYearTypes"),
        ("delete", "/schoolYearTypes"),
        ("get", "/relations/v1/ed-fi/students"),
    ],
)
def test_a_missing_item_is_a_problem(api, method, path):
    response = api.request(method, f"{path}/{SOME_ID}")

    assert response.status_code == 404
    assert response["Content-Type"] == "application/problem+json"
    assert response.json() | WITHOUT == NOT_FOUND


@pytest.mark.parametrize("method", ["get", "delete"])
def test_an_item_of_another_resource_is_not_found(api, method):
    student = item_path(api.post("/students", STUDENT))

    response = api.request(method, student.replace("students", "staffs"))

    assert response.status_code == 404
    assert response.json()["type"] == "urn:ed-fi:api:not-found"
    assert api.get(student).status_code == 200


@pytest.mark.parametrize("path", ["/data/ed-fi/students", "/data/ed-fi/unknowns", f"/data/v3/ed-fi/students/{SOME_ID}"])
@pytest.mark.parametrize("method", ["get", "post", "put", "delete", "patch"])
def test_requests_without_a_token_are_401(db, path, method):
    response = getattr(Client(), method)(path)

    assert response.status_code == 401
    assert response["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    assert response.json() | WITHOUT == WITHOUT | {
        "detail": "The caller could not be authenticated.",
        "type": "urn:ed-fi:api:security:authentication",
        "title": "Authentication Failed",
        "status": 401,
        "errors": ["Authorization header is missing."],
    }


@pytest.mark.parametrize("prefix", ["/data/ed-fi", "/data/v3/ed-fi", "/{version}/ed-fi", "/DATA/V3/Ed-Fi"])
def test_every_url_prefix_serves_the_same_documents(api, standard, prefix):
    prefix = prefix.format(version={"3.3.1-b": "v3.3b", "4.0": "v4.0", "5.2": "v5.2", "6.1": "v6.1"}[standard])

    response = api.post(f"{prefix}/students/", STUDENT)

    assert response.status_code == 201
    assert response["Location"].startswith(f"http://testserver{prefix[: prefix.rindex('/')]}/ed-fi/students/")
    assert api.get(item_path(response)).json()["studentUniqueId"] == "604822"


def test_project_and_endpoint_are_case_insensitive(api):
    assert api.get("/STUDENTS").json() == []


def test_answers_name_their_data_model(api, standard):
    response = api.get("/students")

    assert response["x-metaed-project-name"] == "Ed-Fi"
    assert (response["x-metaed-project-version"], response["x-metaed-project-package-name"]) == {
        "3.3.1-b": ("3.3.1-b", "ed-fi-model-3.3b"),
        "4.0": ("4.0.0", "ed-fi-model-4.0"),
        "5.2": ("5.2.0", "ed-fi-model-5.2"),
        "6.1": ("6.1.0", "ed-fi-model-6.1"),
    }[standard]


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_an_id_that_is_no_uuid_is_refused(api, method):
    response = api.request(method, "/students/12")

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {"$.id": ["The value '12' is not valid."]}


@pytest.mark.parametrize(
    ("method", "path", "allowed", "hint"),
    [
        ("delete", "/students", "GET, HEAD, POST", "Resource collections cannot be deleted."),
        ("put", "/students", "GET, HEAD, POST", "Resource collections cannot be replaced."),
        ("post", f"/students/{SOME_ID}", "GET, HEAD, PUT, DELETE", "Resource items can only be updated using PUT."),
        ("patch", "/students", "GET, HEAD, POST", "The endpoint of the request does not support the 'PATCH' method."),
        (
            "options",
            "/students",
            "GET, HEAD, POST",
            "The endpoint of the request does not support the 'OPTIONS' method.",
        ),
    ],
)
def test_an_unsupported_method_lists_the_supported_ones(api, method, path, allowed, hint):
    response = api.request(method, path)

    assert response.status_code == 405
    assert response["Allow"] == allowed
    assert response.json()["errors"][0].startswith(hint)


@pytest.mark.parametrize("content_type", ["text/xml", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_body_of_another_media_type_is_refused(api, content_type):
    response = api.post("/students", b"<a/>", content_type=content_type)

    assert response.status_code == 415
    assert response.json()["type"] == "urn:ed-fi:api:unsupported-media-type"


@pytest.mark.parametrize("content_type", ["text/json", "application/json; charset=latin-1", ""])
def test_other_media_types_of_json_are_accepted(api, content_type):
    assert api.post("/students", json.dumps(STUDENT), content_type=content_type).status_code == 201


def test_an_empty_body_is_refused(api):
    response = api.post("/students", b" ", content_type="application/json")

    assert response.status_code == 400
    assert response.json()["errors"] == ["A non-empty request body is required."]


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'"text"', b"null", b'{"a": NaN}', b'{"a": "\xff"}', b"[" * 5000, b'{"a":' * 5000]
)
def test_a_body_that_is_no_json_object_is_refused(api, body):
    response = api.post("/students", body, content_type="application/json")

    assert response.status_code == 400
    assert list(response.json()["validationErrors"]) == ["$."]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b'{"firstName": "a", "firstName": "b"}', "$.firstName"),
        (b'{"items": [{"a": 1}, {"name": 1, "name": 1}]}', "$.items[1].name"),
        (b'{"a": {"b": "\\u0022", "b": 2}}', "$.a.b"),
        (b'{"a": "\\"\\"", "a": ""}', "$.a"),
    ],
)
def test_a_duplicate_property_is_refused_with_its_path(api, body, path):
    response = api.post("/students", body, content_type="application/json")

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {path: ["An item with the same key has already been added."]}


def test_the_same_property_in_two_objects_is_no_duplicate(api):
    body = b'{"a": {"b": "\\u0022"}, "c": {"b": 1}, "studentUniqueId": "1"}'

    response = api.post("/students", body, content_type="application/json")

    assert "$.a.b" not in response.json()["validationErrors"]


def test_a_body_over_the_limit_is_refused(api, settings):
    settings.EDFI_API = settings.EDFI_API | {"MAX_BODY_BYTES": 100}
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100

    response = api.post("/students", STUDENT | {"firstName": "a" * 100})

    assert response.status_code == 413
    assert response.json()["type"] == "urn:ed-fi:api:content-too-large"


def test_the_clients_correlation_id_is_returned_escaped(api):
    response = api.get("/unknowns", HTTP_CORRELATIONID="abc-1\n2 forged")

    assert response.json()["correlationId"] == "abc-12forged"


def test_each_problem_has_a_correlation_id_of_its_own(api):
    first, second = (api.get("/unknowns").json()["correlationId"] for _ in range(2))

    assert first
    assert first != second


def test_every_answer_has_security_headers(api):
    response = api.get("/students")

    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"] == "no-referrer"
    assert "Set-Cookie" not in response


def test_a_path_outside_all_routes_is_a_problem(db):
    response = Client().get("/nowhere")

    assert response.status_code == 404
    assert response.json()["type"] == "urn:ed-fi:api:not-found"


@pytest.mark.parametrize("most", [200, 1])
def test_a_connection_that_lost_its_prepared_statements_prepares_them_again(api, monkeypatch, most):
    """psycopg sends DEALLOCATE ALL after some rollbacks, and so may a connection pooler. A connection that has as many
    statements as it may have loses the oldest, too."""
    monkeypatch.setattr(prepared_statements, "_MOST_PREPARED", most)
    path = item_path(api.post("/students", STUDENT))
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")

    assert api.get(path).status_code == 200
    assert api.post("/students", STUDENT | {"firstName": "May"}).status_code == 200
