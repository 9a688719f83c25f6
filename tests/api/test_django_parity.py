"""Where requests and responses are made past Django's own constructors: they have all that Django's have."""

from io import BytesIO
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse

from edfi_api.api.viewsets.responses import EmptyResponse, JsonTextResponse
from meadowlark.serving.lean_handler import LeanRequest


def test_a_finished_response_has_the_attributes_of_djangos():
    ours, theirs = JsonTextResponse(b"{}", {"ETag": '"1"'}), HttpResponse(b"{}", status=200)

    assert vars(ours).keys() == vars(theirs).keys()
    assert (ours.status_code, ours.reason_phrase, ours.content, ours.charset) == (200, "OK", b"{}", "utf-8")
    assert dict(ours.items()) == {
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
            "CONTENT_TYPE": "application/json; charset=utf-8",
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
def test_a_lean_request_has_the_attributes_of_djangos(sent: dict[str, Any]):
    ours, theirs = (
        kind({"REQUEST_METHOD": "GET", "wsgi.input": BytesIO(b"a body of 17 byte"), **sent})
        for kind in (LeanRequest, WSGIRequest)
    )

    assert vars(ours).keys() == vars(theirs).keys()
    seen = ("path", "path_info", "method", "content_type", "content_params", "encoding", "resolver_match")
    assert {name: getattr(ours, name) for name in seen} == {name: getattr(theirs, name) for name in seen}
    assert ours.META["SCRIPT_NAME"] == theirs.META["SCRIPT_NAME"]
    assert ours.META["PATH_INFO"] == theirs.META["PATH_INFO"]
    assert ours.body == theirs.body
