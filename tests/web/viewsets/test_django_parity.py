"""Requests and responses that bypass Django's constructors have the same attributes as Django's."""

from io import BytesIO
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse

from edfi_api.web.viewsets.responses import EmptyResponse, JsonTextResponse
from meadowlark.serving.lean_handler import LeanRequest


def test_a_json_text_response_has_the_attributes_of_a_django_response():
    actual, expected = JsonTextResponse(b"{}", {"ETag": '"1"'}), HttpResponse(b"{}", status=200)

    assert vars(actual).keys() == vars(expected).keys()
    assert (actual.status_code, actual.reason_phrase, actual.content, actual.charset) == (200, "OK", b"{}", "utf-8")
    assert dict(actual.items()) == {
        "Content-Type": "application/json; charset=utf-8",
        "Content-Length": "2",
        "ETag": '"1"',
    }
    assert dict(EmptyResponse(204).items()) == {}


@pytest.mark.parametrize(
    "sent",
    [
        {"PATH_INFO": "/data/ed-fi/students"},
        {
            "PATH_INFO": "/data/ed-fi/students",
            "CONTENT_LENGTH": "17",
            "CONTENT_TYPE": "application/json; version=2",
        },
        {"PATH_INFO": "/data//ed-fi/%20/..", "CONTENT_LENGTH": "", "REQUEST_METHOD": "get"},
        {"PATH_INFO": "/data/ed-fi/students", "CONTENT_LENGTH": "-1"},
        {"PATH_INFO": "/sch\u00c3\u00bcler"},
        {"PATH_INFO": "/\u00ff"},
        {"PATH_INFO": ""},
        {"PATH_INFO": "*"},
        {"PATH_INFO": "/data", "SCRIPT_NAME": "/district"},
    ],
)
def test_a_lean_request_has_the_attributes_of_a_django_request(sent: dict[str, Any]):
    actual, expected = (
        kind({"REQUEST_METHOD": "GET", "wsgi.input": BytesIO(b"a body of 17 byte"), **sent})
        for kind in (LeanRequest, WSGIRequest)
    )

    assert vars(actual).keys() == vars(expected).keys()
    seen = ("path", "path_info", "method", "content_type", "content_params", "encoding", "resolver_match")
    assert {name: getattr(actual, name) for name in seen} == {name: getattr(expected, name) for name in seen}
    assert actual.META["SCRIPT_NAME"] == expected.META["SCRIPT_NAME"]
    assert actual.META["PATH_INFO"] == expected.META["PATH_INFO"]
    assert actual.body == expected.body


def test_the_charset_of_a_body_does_not_decode_the_query_string():
    request = LeanRequest(
        {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": "/data/ed-fi/students",
            "QUERY_STRING": "lastSurname=M%C3%BCller",
            "CONTENT_TYPE": "application/json; charset=iso-8859-1",
            "wsgi.input": BytesIO(),
        }
    )

    assert request.content_params == {"charset": "iso-8859-1"}
    assert request.GET["lastSurname"] == "Müller"
