"""The path below which the server is reached: that of the settings, or what a trusted proxy says it has removed."""

import re
from collections.abc import Callable
from contextvars import ContextVar

from django.conf import settings
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse
from django.urls import get_script_prefix, set_script_prefix

from edfi_api.common.addresses import first_segments
from edfi_api.common.conf import api_settings

HEADER = "HTTP_X_FORWARDED_PREFIX"
# Two slashes would begin the name of a host, and what has to be encoded differs between proxies.
_PREFIX = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))[\w.~-]+)+", re.ASCII)
_current: ContextVar[str] = ContextVar("path_prefix", default="")


def as_prefix(text: str) -> str | None:
    """Return the path with a slash at its beginning and none at its end, empty for the root; None if it is no path."""
    path = "/" + text.strip().strip('"').strip("/") if text.strip().strip('"') not in ("", "/") else ""
    has_two_slashes = "//" in text
    return path if not has_two_slashes and (not path or _PREFIX.fullmatch(path)) else None


class PathPrefixMiddleware:
    """Begins all addresses in answers with the prefix, and the paths of cookies. Before all other middleware; installed
    only behind a proxy, or with `MEADOWLARK_PATH_PREFIX`.

    Proxies remove the prefix, or hand the path over as it was sent: both are served. A prefix that begins like an
    address of this server, such as `/data`, has been removed.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        prefix = api_settings.PATH_PREFIX or (_forwarded(request) if api_settings.BEHIND_PROXY else "")
        if not prefix:
            return self.get_response(request)
        path = request.path_info
        if _is_below(path, prefix) and prefix.split("/")[1].casefold() not in first_segments(settings.ROOT_URLCONF):
            path = path[len(prefix) :] or "/"
        request.META["SCRIPT_NAME"] = prefix
        request.path_info, request.path = path, prefix + path
        # Django keeps its prefix in a thread local, and the next request of the thread may have another one.
        before, token = get_script_prefix(), _current.set(prefix)
        set_script_prefix(prefix)
        try:
            response = self.get_response(request)
        finally:
            set_script_prefix(before)
            _current.reset(token)
        for cookie in response.cookies.values():
            if cookie["path"] == "/":
                cookie["path"] = f"{prefix}/"
        return response


def _forwarded(request: HttpRequest) -> str:
    """Return the path that proxies have removed: each has added its own, the outermost first. Others are ignored."""
    sent = request.META.get(HEADER)
    return "".join(as_prefix(each) or "" for each in sent.split(",")) if sent else ""


def _is_below(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(f"{prefix}/")


class StaticFiles(StaticFilesStorage):
    """Static files below the prefix. Django's own storage keeps the address of the first request."""

    def url(self, name: str | None) -> str:
        """Return the path of a file."""
        return _current.get() + super().url(name)
