"""Log lines as JSON."""

import json
import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[3]
LOGGED_WITHIN_A_REQUEST = """
import django; django.setup()
import logging
from django.http import HttpRequest, HttpResponse
from edfi_api.common.logs.correlation import CorrelationIdMiddleware

def view(request):
    logging.getLogger("edfi_api.somewhere").warning("It is %s.", "done", extra={"resource": "/ed-fi/students"})
    return HttpResponse()

request = HttpRequest()
request.META["HTTP_CORRELATIONID"] = "abc-1"
CorrelationIdMiddleware(view)(request)
"""


def test_a_line_is_an_object_with_the_correlation_id_of_its_request() -> None:
    environment = os.environ | {"MEADOWLARK_LOG_FORMAT": "json", "DJANGO_SETTINGS_MODULE": "meadowlark.settings"}
    command = [sys.executable, "-c", LOGGED_WITHIN_A_REQUEST]

    output = subprocess.run(command, cwd=TOP, env=environment, check=True, stderr=subprocess.PIPE, text=True).stderr

    [line] = map(json.loads, output.splitlines())
    assert line.pop("time")
    assert line == {
        "level": "WARNING",
        "logger": "edfi_api.somewhere",
        "correlation_id": "abc-1",
        "message": "It is done.",
        "resource": "/ed-fi/students",
    }
