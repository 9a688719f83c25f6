"""CORS headers for the configured origins only; by default there are none."""

import pytest
from django.conf import settings as project_settings
from django.test import Client

from edfi_api.web.metadata.responses import Content, collection, item, shared_responses

ORIGIN = "https://sis.example.org"
PREFLIGHT = {"HTTP_ORIGIN": ORIGIN, "HTTP_ACCESS_CONTROL_REQUEST_METHOD": "PUT"}


@pytest.fixture
def origin_allowed(settings):
    settings.CORS_ALLOWED_ORIGINS = [ORIGIN]
    settings.MIDDLEWARE = ["corsheaders.middleware.CorsMiddleware", *settings.MIDDLEWARE]


def test_a_preflight_of_an_allowed_origin_needs_no_token(db, origin_allowed):
    response = Client().options("/data/ed-fi/students", **PREFLIGHT)

    assert response.status_code == 200
    assert response["Access-Control-Allow-Origin"] == ORIGIN
    assert response["Access-Control-Allow-Methods"] == "DELETE, GET, HEAD, POST, PUT"
    assert "if-match" in response["Access-Control-Allow-Headers"]


def test_an_answer_to_an_allowed_origin_exposes_headers(api, origin_allowed):
    response = api.get("/students", HTTP_ORIGIN=ORIGIN)

    assert response["Access-Control-Allow-Origin"] == ORIGIN
    assert sorted(response["Access-Control-Expose-Headers"].split(", ")) == [
        "correlationid",
        "etag",
        "lenient-handling",
        "link",
        "location",
        "next-change-version",
        "next-page-token",
        "preference-applied",
        "retry-after",
        "rule-warnings",
        "total-count",
    ]


def test_every_header_that_openapi_names_is_exposed():
    documents = Content("documents")
    answers = (*shared_responses().values(), item(documents), collection(documents))

    named = {header.lower() for answer in answers for header in answer.get("headers", {})}

    assert {"rule-warnings", "retry-after", "next-page-token"} <= named
    assert named <= set(project_settings.CORS_EXPOSE_HEADERS)


def test_another_origin_gets_no_cors_headers(api, origin_allowed):
    assert "Access-Control-Allow-Origin" not in api.get("/students", HTTP_ORIGIN="https://elsewhere.example")


def test_no_origin_is_allowed_by_default(api):
    assert project_settings.CORS_ALLOWED_ORIGINS == []
    assert "Access-Control-Allow-Origin" not in api.get("/students", HTTP_ORIGIN=ORIGIN)
