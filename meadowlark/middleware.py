"""What surrounds every request: the correlation id, and the admin's middleware kept away from data routes."""

import logging
import re
import uuid
from collections.abc import Callable
from contextvars import ContextVar

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware

from edfi_api.conf import api_settings

ADMIN_PREFIX = "/admin/"
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
        sent = _UNSAFE.sub("", request.META.get(self._meta_name, ""))[:_LONGEST_CORRELATION_ID]
        request.correlation_id = sent or uuid.uuid4().hex
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


class AdminOnly:
    """Mixin for a middleware class that only the admin needs; other requests pass it by."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(ADMIN_PREFIX):
            return super().__call__(request)
        return self.get_response(request)


class AdminSessionMiddleware(AdminOnly, SessionMiddleware):
    """Sessions for the admin."""


class AdminCsrfViewMiddleware(AdminOnly, CsrfViewMiddleware):
    """CSRF protection for the admin; elsewhere a bearer token, which no browser adds by itself, is the protection."""

    def process_view(self, request, callback, callback_args, callback_kwargs):
        if not request.path_info.startswith(ADMIN_PREFIX):
            return None
        return super().process_view(request, callback, callback_args, callback_kwargs)


class AdminAuthenticationMiddleware(AdminOnly, AuthenticationMiddleware):
    """Users for the admin."""


class AdminMessageMiddleware(AdminOnly, MessageMiddleware):
    """Messages for the admin."""
