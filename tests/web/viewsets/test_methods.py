"""Every method on every route of the URL map is answered; an unsupported one with the list of supported ones."""

import pytest
from django.urls import URLPattern, get_resolver, reverse

from tests.conftest import http

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "X-Y"]
SOME_ID = "0198b4f3-3c5e-7000-8000-0123456789ab"
SEGMENTS = {
    "project": "ed-fi",
    "endpoint": "students",
    "document_id": SOME_ID,
    "name": "ed-fi",
    "file": "Ed-Fi-Core.xsd",
}
DATA = ["", "ed-fi/students", f"ed-fi/students/{SOME_ID}", "ed-fi/students/partitions", "ed-fi/students/deletes"]


def routes():
    """A path for each route outside Django's admin, and for each kind of data route."""
    patterns = [each for each in get_resolver().url_patterns if str(each.pattern) != "admin/"]
    flat = [nested for each in patterns for nested in getattr(each, "url_patterns", [each])]
    assert all(isinstance(each, URLPattern) for each in flat)
    paths = [
        reverse(each.name, kwargs={name: SEGMENTS.get(name, "x") for name in each.pattern.regex.groupindex})
        for each in flat
        if each.name not in (None, "data")
    ]
    return [*paths, *(f"/data/{path}" for path in DATA), "/admin/", "/unknown", "*"]


@pytest.mark.parametrize("path", routes())
def test_no_method_is_a_server_error_on_any_route(api, path):
    for method in METHODS:
        for headers in ({}, {"Authorization": f"Bearer {api.token}"}):
            response = http().generic(method, path, headers=headers)
            assert response.status_code < 500, method
            assert response.status_code != 405 or response["Allow"], method


@pytest.mark.parametrize("method", [each for each in METHODS if each != "POST"])
def test_token_introspection_requires_post(api, method):
    response = http().generic(method, "/oauth/token_info", headers={"Authorization": f"Bearer {api.token}"})

    assert (response.status_code, response["Allow"]) == (405, "POST")
    if method != "HEAD":
        problem = response.json()
        assert problem["type"] == "urn:ed-fi:api:method-not-allowed"
        assert problem["errors"] == [f'Method "{method.upper()}" not allowed.']
