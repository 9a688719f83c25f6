"""The WSGI application. Everything is compiled before the first request, so that forked workers share it."""

import os
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")

_CHARSET = re.compile(r";\s*charset=[^;]*", re.IGNORECASE)

_django = get_wsgi_application()

import_module(settings.ROOT_URLCONF)

if settings.TELEMETRY:
    _django = import_module("meadowlark.telemetry").traced(_django)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Everything is UTF-8 here. Django would read even the query string in the charset of the Content-Type, and fail
    before any view if a client names one that is not for text."""
    content_type = environ.get("CONTENT_TYPE", "")
    if "charset" in content_type.lower():
        environ["CONTENT_TYPE"] = _CHARSET.sub("", content_type)
    return _django(environ, start_response)
