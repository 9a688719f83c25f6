"""The WSGI application. Everything is compiled before the first request, so that forked workers share it."""

import os
import re
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from importlib import import_module
from typing import Any

import django
from django.conf import settings
from django.core.cache import close_caches
from django.core.handlers.base import reset_urlconf
from django.core.signals import request_finished
from django.db import close_old_connections, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from meadowlark.serving.lean_handler import LeanHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")

_CHARSET = re.compile(r";\s*charset=[^;]*", re.IGNORECASE)

django.setup(set_prefix=False)
_django = LeanHandler()

import_module(settings.ROOT_URLCONF)

# What listens to the end of a request: there are no caches to close, the URL map is always the same, and old
# connections are looked for at the beginning of the next.
for receiver in (close_caches, reset_urlconf, close_old_connections):
    request_finished.disconnect(receiver)

# Requests may keep a thread and its locks for so long. They are many at once and short, so none is spread over several
# processes of PostgreSQL: to start these took four milliseconds of each filtered page of a million documents. A pooler
# that lends connections by the transaction knows no options of a session; this is its business, or the role's.
limits = {"statement_timeout": settings.STATEMENT_SECONDS, "lock_timeout": settings.LOCK_SECONDS}
for database in connections.databases.values():
    if not database["DISABLE_SERVER_SIDE_CURSORS"]:
        told = [f"-c {name}={seconds}s" for name, seconds in limits.items() if seconds]
        told.append("-c max_parallel_workers_per_gather=0")
        database["OPTIONS"]["options"] = " ".join([database["OPTIONS"].get("options", ""), *told]).strip()

_thread = threading.local()


def _remember_connection(connection: BaseDatabaseWrapper, **_: object) -> None:
    """For the thread that has it, which need not look through all databases for those that it has opened."""
    _thread.connections = {*_opened(), connection}


def _opened() -> Collection[BaseDatabaseWrapper]:
    return getattr(_thread, "connections", ())


connection_created.connect(_remember_connection)

if settings.TELEMETRY:
    _django = import_module("meadowlark.telemetry").traced(_django)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Everything is UTF-8 here. Django would read even the query string in the charset of the Content-Type, and fail
    before any view if a client names one that is not for text."""
    content_type = environ.get("CONTENT_TYPE", "")
    if "charset" in content_type.lower():
        environ["CONTENT_TYPE"] = _CHARSET.sub("", content_type)
    for connection in _opened():  # Whatever asks next sees whether its connection still stands.
        connection.close_if_unusable_or_obsolete()
    answer = _django(environ, start_response)
    if environ["REQUEST_METHOD"] != "HEAD":
        return answer
    # Django leaves it to the server to drop the body, and gunicorn does, with a warning in the log for each.
    with closing(answer):
        return []
