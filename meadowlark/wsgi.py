"""The WSGI application. The model is compiled on import, so that forked workers share the memory of the result."""

import os
import re
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from importlib import import_module
from typing import Any, cast

import django
from django.conf import settings
from django.core.cache import close_caches
from django.core.handlers.base import reset_urlconf
from django.core.signals import request_finished
from django.db import close_old_connections, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.http import HttpResponse

from edfi_api.data_stores.request_options import limit
from meadowlark.serving.lean_handler import LeanHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")

_CHARSET = re.compile(r";\s*charset=[^;]*", re.IGNORECASE)

django.setup(set_prefix=False)
_django = LeanHandler()

import_module(settings.ROOT_URLCONF)

# Django's own receivers of `request_finished` are not needed: there are no caches to close, the URL map is always the
# same, and `application` checks connections before each request.
for receiver in (close_caches, reset_urlconf, close_old_connections):
    request_finished.disconnect(receiver)

# Limits for how long a request may occupy a thread and hold locks. No parallel queries, since requests are short and
# concurrent: starting the parallel workers took four milliseconds of each filtered page of a million documents. A
# pooler with transaction pooling supports no session options; there the pooler or the role has to be configured.
limits = {"statement_timeout": settings.STATEMENT_SECONDS, "lock_timeout": settings.LOCK_SECONDS}
of_requests = [f"-c {name}={seconds}s" for name, seconds in limits.items() if seconds]
of_requests.append("-c max_parallel_workers_per_gather=0")
for database in connections.databases.values():
    limit(database, " ".join(of_requests))

_thread = threading.local()


def _remember_connection(connection: BaseDatabaseWrapper, **_: object) -> None:
    """In a thread local, so that a thread need not search all databases for its open connections."""
    _thread.connections = {*_opened(), connection}


def _opened() -> Collection[BaseDatabaseWrapper]:
    return getattr(_thread, "connections", ())


connection_created.connect(_remember_connection)

if settings.TELEMETRY:
    _django = import_module("meadowlark.telemetry").traced(_django)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Removes the charset of the Content-Type, since everything is UTF-8: Django would decode even the query string
    with it, and fail before any view is called if it is not a text encoding."""
    content_type = environ.get("CONTENT_TYPE", "")
    if "charset" in content_type.lower():
        environ["CONTENT_TYPE"] = _CHARSET.sub("", content_type)
    for connection in _opened():  # As Django does at the beginning of a request.
        connection.close_if_unusable_or_obsolete()
    answer = _django(environ, start_response)
    if environ["REQUEST_METHOD"] != "HEAD":
        return answer
    # Django leaves dropping the body to the server, and gunicorn logs a warning for each.
    with closing(cast(HttpResponse, answer)):
        return []
