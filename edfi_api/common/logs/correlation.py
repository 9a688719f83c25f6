"""The correlation id, which identifies a request in its answer and in all log lines written for it.

See meadowlark/docs/reference/contract.md#problem-details. Imports no Django app, since logging is configured before
them.
"""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse
from uuid_utils import uuid4

from edfi_api.common.conf import api_settings
from edfi_api.common.ods_compatibility import OdsCompatibility

# The id that log lines get now.
current_id: ContextVar[str] = ContextVar("correlation_id", default="-")
# The client's id is written to log lines and to a header of the answer, so characters that could forge either are
# removed.
_UNSAFE = re.compile(r"[^\w.:\-]", re.ASCII)
_LONGEST_CORRELATION_ID = 128
# The WSGI variable of an id that was chosen before the middleware.
CHOSEN = "meadowlark.correlation_id"


class CorrelationIdMiddleware:
    """Sets `request.correlation_id`: the client's own, without unsafe characters, or a new one. The answer returns it
    in the same header."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._header = api_settings.CORRELATION_HEADER
        self._meta_name = "HTTP_" + self._header.upper().replace("-", "_")
        self._is_like_ods = OdsCompatibility.CORRELATION.applies

    def __call__(self, request: HttpRequest) -> HttpResponse:
        correlation_id = request.META.get(CHOSEN) or self._chosen(request)
        request.correlation_id = correlation_id  # type: ignore[attr-defined]  # Read where errors are answered.
        token = current_id.set(correlation_id)
        try:
            response = self.get_response(request)
        finally:
            current_id.reset(token)
        response.headers[self._header] = correlation_id
        return response

    def _chosen(self, request: HttpRequest) -> str:
        sent = request.META.get(self._meta_name)
        if not sent and self._is_like_ods:
            sent = request.META.get("HTTP_CORRELATION_ID") or request.GET.get("correlationId")
        return chosen_correlation_id(sent)


def correlation_headers() -> tuple[str, ...]:
    """The headers of requests, in lower case, of which the first one that is not empty has the client's id."""
    like_ods = ("correlation-id",) if OdsCompatibility.CORRELATION.applies else ()
    return (api_settings.CORRELATION_HEADER.lower(), *like_ods)


def chosen_correlation_id(sent: str | None) -> str:
    """Return what was sent, without unsafe characters, or a new id if nothing is left of it."""
    safe = _UNSAFE.sub("", sent)[:_LONGEST_CORRELATION_ID] if sent else ""
    return safe or new_correlation_id()


def new_correlation_id() -> str:
    return uuid4().hex


@contextmanager
def correlated(correlation_id: str) -> Iterator[None]:
    """Give log lines that are written within this context this id."""
    token = current_id.set(correlation_id)
    try:
        yield
    finally:
        current_id.reset(token)


class CorrelationIdFilter(logging.Filter):
    """Adds the field `correlation_id` to log records."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.correlation_id = current_id.get()
        return True
