"""Internal errors: the client gets a correlation id, under which the log has the traceback."""

import io
import logging

import pytest

from edfi_api.common.logs.correlation import CorrelationIdFilter
from tests.support.databases import connection


@pytest.fixture
def log():
    """Logged errors in the format of the settings."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(CorrelationIdFilter())
    handler.setFormatter(logging.Formatter("[{correlation_id}] {message}", style="{"))
    logging.getLogger("django.request").addHandler(handler)
    yield stream
    logging.getLogger("django.request").removeHandler(handler)


def test_a_bug_is_a_system_error_without_its_details(api_without_check, log):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE document RENAME TO misplaced")

    response = api_without_check.get("/students", HTTP_CORRELATIONID="case-7")

    assert response.status_code == 500
    assert response["Content-Type"] == "application/problem+json"
    assert response.json() == {
        "detail": "An unexpected problem has occurred.",
        "type": "urn:ed-fi:api:system",
        "title": "System Error",
        "status": 500,
        "correlationId": "case-7",
        "validationErrors": {},
        "errors": [],
    }


def test_its_traceback_is_logged_under_the_clients_correlation_id(api_without_check, log):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE document RENAME TO misplaced")

    api_without_check.get("/students", HTTP_CORRELATIONID="case-7")

    assert log.getvalue().startswith("[case-7] Internal Server Error: /data/ed-fi/students\nTraceback")
    assert "UndefinedTable" in log.getvalue()
