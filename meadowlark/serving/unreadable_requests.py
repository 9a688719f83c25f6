"""Answers of gunicorn itself, before the application is called: to malformed HTTP and to heads that are too long."""

import logging
from socket import socket

import orjson
from gunicorn import util

from edfi_api.conf import api_settings
from edfi_api.logs import log_lines
from edfi_api.problem_details.problem import MEDIA_TYPE, Problem
from meadowlark.correlation import correlated, new_correlation_id

_log = logging.getLogger("meadowlark.requests")


def write_problem(client: socket, status: int, reason: str, message: str) -> None:
    """Answers with problem details and writes a log line, as for every other refusal."""
    problem = Problem(
        status=status,
        type="bad-request" if status < 500 else "system",
        title=reason,
        detail="The request could not be processed. See 'errors' for details.",
        errors=[message] if message else [],
    )
    correlation_id = new_correlation_id()
    level = logging.INFO if status < 500 else logging.ERROR
    with correlated(correlation_id):
        log_lines.write(_log, level, {"status": status, "problem": problem.urn})
    body = orjson.dumps(problem.body(correlation_id))
    headers = {
        "Connection": "close",
        "Content-Type": MEDIA_TYPE,
        "Content-Length": len(body),
        api_settings.CORRELATION_HEADER: correlation_id,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    util.write_nonblock(client, f"HTTP/1.1 {status} {reason}\r\n{head}\r\n".encode() + body)


def install() -> None:
    """Replace gunicorn's error page, which is HTML, and drop its log line, which quotes the request; it has no setting
    for either."""
    util.write_error = write_problem
    logging.getLogger("gunicorn.error").addFilter(_is_no_refusal)


def _is_no_refusal(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Invalid request from ip=")
