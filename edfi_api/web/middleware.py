"""Separates data requests from those for the admin and other pages, since each middleware costs time per request; and
bounds the forms with files of these pages."""

import re
from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.gzip import GZipMiddleware
from django.middleware.security import SecurityMiddleware
from django.template.response import SimpleTemplateResponse
from django.urls import URLPattern, get_resolver
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin
from django.utils.text import compress_string

from edfi_api.common import addresses
from edfi_api.common.conf import api_settings
from edfi_api.web.metadata.publication import accepts_gzip
from edfi_api.web.viewsets.responses import FixedHeaders

# With an empty ADMIN_PATH there is no admin, and no view at this path.
ADMIN_PREFIX = f"/{settings.ADMIN_PATH or 'admin'}/"


class ForwardedHeadersMiddleware:
    """Reads what proxies say about the request as it was sent: scheme and host in any case, without blanks and
    quotation marks, and the first of several, which is that of the outermost proxy. Installed only behind a proxy."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        for name in _FORWARDED:
            if name in request.META:
                request.META[name] = request.META[name].partition(",")[0].strip().strip('"').strip().lower()
        return self.get_response(request)


_FORWARDED = ("HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_HOST")


class DataRoutesMiddleware:
    """Calls the view of a data request directly, without the middleware after this one and without Django's resolver.

    These are for pages (static files, sessions, view middleware), and together took about as long as reading a document
    from the database. The headers of Django's SecurityMiddleware are the same for all data, so they are computed once.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._security = SecurityMiddleware(get_response)
        self._security_headers = self._headers_for(HttpRequest())
        self._security_headers_of_https = self._headers_for(_HttpsRequest())
        self._safe_answer: Callable[[HttpRequest], Any] = convert_exception_to_response(self._answer)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        data = _data_pattern(settings.ROOT_URLCONF)
        found = data.pattern.regex.match(request.path_info[1:]) if data else None
        if data is None or found is None:
            return self.get_response(request)
        request.data_view = data.callback, found.groupdict()  # type: ignore[attr-defined]  # Read by `_answer`.
        redirect = self._security.process_request(request) if self._security.redirect else None
        response: HttpResponse = redirect or self._safe_answer(request)
        if not response.has_header("Content-Length") and response.status_code not in _WITHOUT_LENGTH:
            response.headers["Content-Length"] = str(len(response.content))
        is_secure = self._security.sts_seconds and request.is_secure()
        (self._security_headers_of_https if is_secure else self._security_headers).add_to(response)
        return response

    def _answer(self, request: HttpRequest) -> HttpResponse:
        request.get_host()  # Raises DisallowedHost.
        view, values = request.data_view  # type: ignore[attr-defined]  # Set by `__call__`.
        response: HttpResponse = view(request, **values)
        if isinstance(response, SimpleTemplateResponse):
            response.render()
        return response

    def _headers_for(self, request: HttpRequest) -> FixedHeaders:
        answer = HttpResponse()
        del answer.headers["Content-Type"]
        return FixedHeaders(self._security.process_response(request, answer).headers)


class _HttpsRequest(HttpRequest):
    def _get_scheme(self) -> str:
        return "https"


@cache
def _data_pattern(urlconf: str) -> URLPattern | None:
    """Return the pattern of data routes, or None for a URL map without data routes, as in tests."""
    first = get_resolver(urlconf).url_patterns[0]
    return first if isinstance(first, URLPattern) and first.name == "data" else None


_WITHOUT_LENGTH = (204, 304)


class DataGZipMiddleware(GZipMiddleware):
    """Compresses the answers of data requests for clients that accept it; stands before `DataRoutesMiddleware`.

    ETags stay strong: they are versions of documents, which clients send back in If-Match, where a weak one never
    matches (RFC 9110 §13.1.1).
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not hasattr(request, "data_view"):
            return response
        patch_vary_headers(response, ["Accept-Encoding"])
        if not accepts_gzip(request):
            return response
        etag = response.headers.get("ETag")
        response = super().process_response(request, response)
        if etag is not None:
            response.headers["ETag"] = etag
        return response


class PageGZipMiddleware(GZipMiddleware):
    """Compresses pages, style sheets, scripts and drawings for clients that accept it; stands before WhiteNoise.

    The length of a page could tell a secret in it to those who choose another part of it by a link (BREACH). Django
    adds a random length to each answer and masks the tokens of forms, and browsers send the session of the admin with
    no request of another site but a link that is followed. Answers in JSON, such as tokens, are left as they are.

    Files are the same for everybody, so each is compressed once. They keep their ETag, by which WhiteNoise knows them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        super().__init__(get_response)
        self._files: dict[tuple[str, str], bytes] = {}

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        media_type = response.headers.get("Content-Type", "").partition(";")[0]
        if media_type not in _COMPRESSED_TYPES or response.status_code == HTTPStatus.PARTIAL_CONTENT:
            return response
        patch_vary_headers(response, ["Accept-Encoding"])
        if not accepts_gzip(request):
            return response
        if response.streaming:
            return self._compress_file(request, response)
        return super().process_response(request, response)

    def _compress_file(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponse:
        key = request.path_info, response.headers.get("ETag", "")
        if key not in self._files:
            self._files[key] = compress_string(b"".join(response))
        response.close()
        content = self._files[key]
        headers = {**response.headers, "Content-Encoding": "gzip", "Content-Length": str(len(content))}
        return HttpResponse(content, headers=headers)


_COMPRESSED_TYPES = frozenset({"text/html", "text/css", "text/javascript", "image/svg+xml"})


class HostAndLengthMiddleware(CommonMiddleware):
    """Django's common middleware, which refuses hosts outside ALLOWED_HOSTS, except for health checks: load balancers
    and Kubernetes address a server by an IP that is not known in advance."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        return None if _PROBED.match(request.path_info) else super().process_request(request)


_PROBED = re.compile(rf"/{addresses.HEALTH}(?:/|$)", re.IGNORECASE)


class AdminOnly(MiddlewareMixin):
    """Mixin for middleware that only the admin needs; other requests skip it."""

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith(ADMIN_PREFIX):
            return super().__call__(request)
        return self.get_response(request)


class ContentSecurityPolicyMiddleware(MiddlewareMixin):
    """Sends the Content-Security-Policy of the settings."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response.headers["Content-Security-Policy"] = settings.CONTENT_SECURITY_POLICY
        return response


class AdminTimeZoneMiddleware(AdminOnly):
    """Pages of the admin show times in the time zone of the settings."""

    def process_request(self, request: HttpRequest) -> None:
        timezone.activate(settings.ADMIN_TIME_ZONE)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        timezone.deactivate()
        return response


class AdminContentSecurityPolicyMiddleware(AdminOnly, ContentSecurityPolicyMiddleware):
    """The Content-Security-Policy of the admin."""


class AdminXFrameOptionsMiddleware(AdminOnly, XFrameOptionsMiddleware):
    """Prevents framing of the admin in browsers that do not support its Content-Security-Policy."""


class AdminSessionMiddleware(AdminOnly, SessionMiddleware):
    """Sessions for the admin."""


class AdminCsrfViewMiddleware(AdminOnly, CsrfViewMiddleware):
    """CSRF protection for the admin. Other requests are authenticated by a bearer token, which browsers do not send by
    themselves.

    It checks the Origin header of a form, which browsers send as `null` from pages with the referrer policy
    `no-referrer`. All other answers have that policy; with it, logging in would fail.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers["Referrer-Policy"] = "same-origin"
        return super().process_response(request, response)

    def process_view(self, request: HttpRequest, callback: Any, callback_args: Any, callback_kwargs: Any) -> Any:
        if not request.path_info.startswith(ADMIN_PREFIX):
            return None
        return super().process_view(request, callback, callback_args, callback_kwargs)


class AdminAuthenticationMiddleware(AdminOnly, AuthenticationMiddleware):
    """Users for the admin."""


class AdminMessageMiddleware(AdminOnly, MessageMiddleware):
    """Messages for the admin."""


class BoundedUpload(FileUploadHandler):
    """Refuses a form that is longer than the server receives, before it is kept. The next handlers take the files."""

    def handle_raw_input(self, input_data: Any, META: Any, content_length: int, *_: Any, **__: Any) -> None:
        """Raise RequestDataTooBig."""
        if content_length > api_settings.upload_bytes:
            raise RequestDataTooBig(f"A form with a file has {api_settings.upload_bytes:,} bytes at most.")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None
