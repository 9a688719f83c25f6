"""The correlation id: one name for a request in its problem details and in every log line it causes.

See meadowlark/docs/contract.md#problem-details. Without Django's applications, since the logging is set up before them.
"""

import logging
import re
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse
from uuid_utils import uuid4

from edfi_api.conf import api_settings

_correlation_id: ContextVar[str] = ContextVar("correlation_id", default="-")
# What a client sends as correlation id ends up in log lines: nothing that could forge one passes.
_UNSAFE = re.compile(r"[^\w.:\-]")
_LONGEST_CORRELATION_ID = 128


class CorrelationIdMiddleware:
    """Gives each request `request.correlation_id`: the client's own, made harmless, or a new one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._meta_name = "HTTP_" + api_settings.CORRELATION_HEADER.upper().replace("-", "_")

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent = request.META.get(self._meta_name)
        harmless = _UNSAFE.sub("", sent)[:_LONGEST_CORRELATION_ID] if sent else ""
        request.correlation_id = harmless or uuid4().hex
        token = _correlation_id.set(request.correlation_id)
        try:
            return self.get_response(request)
        finally:
            _correlation_id.reset(token)


class CorrelationIdFilter(logging.Filter):
    """Lets log formats say `{correlation_id}`."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.correlation_id = _correlation_id.get()
        return True
