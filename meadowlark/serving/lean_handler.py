"""WSGIHandler without the signal `request_started`, URLconf reset and refusal log lines; caches `get_host()`."""

from collections.abc import Callable
from typing import Any

from django.core.handlers.wsgi import LimitedStream, WSGIHandler, WSGIRequest, get_script_name
from django.http.response import HttpResponseBase
from django.urls import clear_script_prefix, set_script_prefix
from django.utils.http import parse_header_parameters

# Everything from which Django derives the host.
_HOST_HEADERS = ("HTTP_X_FORWARDED_HOST", "HTTP_HOST", "SERVER_NAME", "SERVER_PORT", "HTTP_X_FORWARDED_PROTO")
_MOST_HOSTS = 100
_our_hosts: dict[tuple[str | None, ...], str] = {}


class LeanRequest(WSGIRequest):
    """Does not decode ASCII paths, and caches hosts that were allowed, up to a limit: clients may send any number of
    spellings."""

    def __init__(self, environ: dict[str, Any]) -> None:
        path = environ["PATH_INFO"]
        if environ.get("SCRIPT_NAME") or not path.startswith("/") or not path.isascii():
            super().__init__(environ)
            return
        environ["SCRIPT_NAME"] = ""
        self.environ = self.META = environ
        self.path = self.path_info = path
        self.method = environ["REQUEST_METHOD"].upper()
        if environ.get("CONTENT_TYPE"):
            self._set_content_type_params(environ)
        else:
            self.content_type, self.content_params = "", {}
        self._stream = LimitedStream(environ["wsgi.input"], _content_length(environ))  # type: ignore[assignment]
        self._read_started = False
        self.resolver_match = None

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        """Django would decode the query string by the charset of the body, which has nothing to do with it."""
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))

    def get_host(self) -> str:
        sent = tuple([self.META.get(name) for name in _HOST_HEADERS])
        host = _our_hosts.get(sent)
        if host is None:
            host = super().get_host()
            if len(_our_hosts) < _MOST_HOSTS:
                _our_hosts[sent] = host
        return host


def _content_length(environ: dict[str, Any]) -> int:
    """0 if the header is missing or not a number."""
    sent = environ.get("CONTENT_LENGTH", "")
    return int(sent) if sent.isdecimal() else 0


class LeanHandler(WSGIHandler):
    """Omits `set_urlconf`, since the URL map is always that of the settings; the script prefix, unless there is one;
    the signal `request_started`; and Django's log line for each refusal, since `observability.middleware` writes
    one."""

    request_class = LeanRequest

    # Django's `get_response` does all that is omitted here, and there is no public way to the middleware without it.

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> HttpResponseBase:
        if not environ.get("SCRIPT_NAME"):
            return self._respond(environ, start_response)
        # Django keeps the prefix in a thread local, and the next request of the thread may have none.
        set_script_prefix(get_script_name(environ))
        try:
            return self._respond(environ, start_response)
        finally:
            clear_script_prefix()

    def _respond(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> HttpResponseBase:
        request = self.request_class(environ)
        response: HttpResponseBase = self._middleware_chain(request)  # type: ignore[attr-defined]
        response._resource_closers.append(request.close)  # type: ignore[attr-defined]
        response._handler_class = LeanHandler  # type: ignore[attr-defined]
        headers = list(response.headers._store.values())
        if response.cookies:
            headers += [("Set-Cookie", cookie.output(header="")) for cookie in response.cookies.values()]
        start_response(f"{response.status_code} {response.reason_phrase}", headers)
        return response
