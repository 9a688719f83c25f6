"""The WSGI application. The model is compiled on import, so that forked workers share the memory of the result."""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import closing
from importlib import import_module
from typing import Any, Self, cast

import django
from django.conf import settings
from django.core.cache import close_caches
from django.core.handlers.base import reset_urlconf
from django.core.signals import request_finished
from django.db import close_old_connections, connections
from django.http import HttpResponse, StreamingHttpResponse

from edfi_api.common.conf import api_settings
from meadowlark.serving.connection_pool import ConnectionPool
from meadowlark.serving.lean_handler import LeanHandler
from meadowlark.serving.process import pause_garbage_collection, resume_garbage_collection
from meadowlark.serving.short_way import PreparedRequests

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")

_CHARSET = re.compile(r";\s*charset=[^;]*", re.IGNORECASE)

pause_garbage_collection()
django.setup(set_prefix=False)
import_module("edfi_api.site.checks").log_unknown_variables()
_django = LeanHandler()
# A wrong file of identity providers stops the server, not the first request.
import_module("edfi_api.core.security.issuers").issuers()

import_module(settings.ROOT_URLCONF)
import_module("edfi_api.site.checks").log_warnings_of_the_model()
if api_settings.PERSON_PAGES:
    import_module("edfi_api.site.checks").log_problems_of_person_pages()
if api_settings.WRITE_RULES:
    import_module("edfi_api.core.writes.rules.configured").valid_rules()  # Likewise.
# Collections in the workers would also write to the memory that they share.
resume_garbage_collection()

# Django's own receivers of `request_finished` are not needed: there are no caches to close, the URL map is always the
# same, and connections are checked when they are taken.
for receiver in (close_caches, reset_urlconf, close_old_connections):
    request_finished.disconnect(receiver)

# Limits for how long a request may occupy a thread and hold locks. A pooler with transaction pooling supports no
# session options; there the pooler or the role has to be configured.
limits = {"statement_timeout": settings.STATEMENT_SECONDS, "lock_timeout": settings.LOCK_SECONDS}
of_requests = [f"-c {name}={seconds}s" for name, seconds in limits.items() if seconds]
# Requests are short and concurrent. Starting parallel workers took four milliseconds of each filtered page of a million
# documents; compiling a statement costs more than it saves. PostgreSQL's own cost of a random page is that of a disk
# with a moving head, by which it reads the whole table to count the documents of a resource or to skip to a page.
planning = {"max_parallel_workers_per_gather": 0, "jit": "off", "random_page_cost": 1.1}
of_requests += [f"-c {name}={value}" for name, value in planning.items()]
_limit = import_module("edfi_api.core.data_stores.databases").limit
for database in connections.databases.values():
    _limit(database, " ".join(of_requests))

# PostgreSQL ends a statement at its limit; a server that has not done so some seconds later hangs.
_most_seconds_silent = settings.STATEMENT_SECONDS and settings.STATEMENT_SECONDS + 5
_metrics = import_module("edfi_api.site.observability.metrics")
_pool = ConnectionPool(
    connections, api_settings.STORE_CONNECTIONS, _most_seconds_silent, count=_metrics.count_connections
)
_pool.install()


class _Streamed:
    """An answer that may use databases while it is sent: only while a block is made, not while its client reads."""

    def __init__(self, answer: StreamingHttpResponse) -> None:
        self._answer = answer
        self._blocks = iter(answer)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._blocks)
        finally:
            _pool.put_back()

    def close(self) -> None:
        try:
            self._answer.close()
        finally:
            _pool.put_back()


def _answered(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    answer = _django(environ, start_response)
    return _Streamed(cast(StreamingHttpResponse, answer)) if answer.streaming else cast(HttpResponse, answer)


_has_traces = "traces" in settings.TELEMETRY
_traced = import_module("edfi_api.site.observability.telemetry").traced(_answered) if _has_traces else _answered


class _Application:
    """The application, with the requests that its views have prepared; None if none may go the short way: it has no
    spans, and does not compress."""

    def __init__(self, prepared_requests: PreparedRequests | None) -> None:
        self.prepared_requests = prepared_requests
        self.caller_of = import_module("meadowlark.callers").caller_of

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Remove the charset of the Content-Type, since everything is UTF-8: Django would decode even the query string
        with it, and fail before any view is called if it is not a text encoding."""
        content_type = environ.get("CONTENT_TYPE", "")
        if "charset" in content_type.lower():
            environ["CONTENT_TYPE"] = _CHARSET.sub("", content_type)
        try:
            answer = _traced(environ, start_response)
        finally:
            _pool.put_back()
        if environ["REQUEST_METHOD"] != "HEAD":
            return answer
        # Django leaves dropping the body to the server, and gunicorn logs a warning for each.
        with closing(cast(HttpResponse, answer)):
            return []


_has_short_way = not _has_traces and "edfi_api.web.middleware.DataGZipMiddleware" not in settings.MIDDLEWARE
_observe = import_module("edfi_api.site.observability.middleware").observe_prepared
application = _Application(PreparedRequests(_pool.put_back, _observe) if _has_short_way else None)
