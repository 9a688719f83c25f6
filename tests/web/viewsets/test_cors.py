"""CORS headers for the configured origins only; by default there are none."""

import pytest
from django.conf import settings as project_settings
from django.test import Client

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
    assert "etag" in response["Access-Control-Expose-Headers"]


def test_another_origin_gets_no_cors_headers(api, origin_allowed):
    assert "Access-Control-Allow-Origin" not in api.get("/students", HTTP_ORIGIN="https://elsewhere.example")


def test_no_origin_is_allowed_by_default(api):
    assert project_settings.CORS_ALLOWED_ORIGINS == []
    assert "Access-Control-Allow-Origin" not in api.get("/students", HTTP_ORIGIN=ORIGIN)
