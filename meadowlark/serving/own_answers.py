"""Answers of the server itself in place of the application's, as problem details."""

import logging
from wsgiref.types import WSGIEnvironment

import orjson

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.correlation import correlated, new_correlation_id
from edfi_api.common.logs.printable import log_facts
from edfi_api.web.problem_details.problem import MEDIA_TYPE, Problem
from meadowlark.serving.rsgi import HTTPProtocol

_log = logging.getLogger("meadowlark.requests")

_DETAIL = "The request could not be processed. See 'errors' for details."


def _refusal(status: int, title: str, error: str) -> Problem:
    return Problem(status=status, type="bad-request", title=title, detail=_DETAIL, errors=[error])


def _overload(detail: str) -> Problem:
    return Problem(
        status=503,
        type="service-unavailable",
        title="Service Unavailable",
        detail=detail,
        headers={"Retry-After": "5"},
    )


BODY_TOO_SLOW = _refusal(408, "Request Timeout", "The body of the request did not arrive in time.")
TOO_MANY_BODIES = _overload("The server is receiving too many large requests. Retry the request later.")
TOO_MANY_LARGE_ANSWERS = _overload(
    "Too many large answers wait to be sent. Retry the request later, or with smaller pages."
)
TOO_MANY_REQUESTS_WAITING = Problem(
    status=429,
    type="too-many-requests",
    title="Too Many Requests",
    detail="Too many requests of this client wait to be answered. Retry the request later, over fewer connections.",
    headers={"Retry-After": "1"},
)
_NO_HOST = _refusal(400, "Bad Request", "The request has no header Host, which HTTP/1.1 needs.")
_UNKNOWN_CODING = _refusal(501, "Not Implemented", "The only transfer coding that is supported is 'chunked'.")
_UNKNOWN_EXPECTATION = _refusal(417, "Expectation Failed", "The only expectation that is supported is '100-continue'.")


def of_head(variables: WSGIEnvironment) -> Problem | None:
    """Return why a request cannot be read, if it cannot; `variables` are those of WSGI."""
    if "HTTP_HOST" not in variables and variables["SERVER_PROTOCOL"] == "HTTP/1.1":
        return _NO_HOST
    if variables.get("HTTP_TRANSFER_ENCODING", "chunked").lower() != "chunked":
        return _UNKNOWN_CODING
    if variables.get("HTTP_EXPECT", "100-continue").lower() != "100-continue":
        return _UNKNOWN_EXPECTATION
    return None


def send(protocol: HTTPProtocol, problem: Problem) -> int:
    """Answer with the problem, close the connection, and write a log line as for every other refusal. Returns the
    length of the answer's body."""
    correlation_id = new_correlation_id()
    level = logging.INFO if problem.status < 500 else logging.ERROR
    with correlated(correlation_id):
        log_facts(_log, level, {"status": problem.status, "problem": problem.urn})
    body = orjson.dumps(problem.body(correlation_id))
    headers = {
        "Connection": "close",
        "Content-Type": MEDIA_TYPE,
        "Content-Length": str(len(body)),
        api_settings.CORRELATION_HEADER: correlation_id,
        **problem.headers,
    }
    protocol.response_bytes(problem.status, list(headers.items()), body)
    return len(body)
