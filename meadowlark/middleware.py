"""The admin's middleware, kept away from the data routes, where each layer would cost time on every request."""

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware

ADMIN_PREFIX = "/admin/"


class AdminOnly:
    """Mixin for a middleware class that only the admin needs; other requests pass it by."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(ADMIN_PREFIX):
            return super().__call__(request)
        return self.get_response(request)


class AdminSessionMiddleware(AdminOnly, SessionMiddleware):
    """Sessions for the admin."""


class AdminCsrfViewMiddleware(AdminOnly, CsrfViewMiddleware):
    """CSRF protection for the admin; elsewhere a bearer token, which no browser adds by itself, is the protection.

    It looks at the origin of a form, which browsers hide together with the referrer: a page that says `no-referrer`, as
    the others do, could not be logged in to.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response.headers["Referrer-Policy"] = "same-origin"
        return super().process_response(request, response)

    def process_view(self, request, callback, callback_args, callback_kwargs):
        if not request.path_info.startswith(ADMIN_PREFIX):
            return None
        return super().process_view(request, callback, callback_args, callback_kwargs)


class AdminAuthenticationMiddleware(AdminOnly, AuthenticationMiddleware):
    """Users for the admin."""


class AdminMessageMiddleware(AdminOnly, MessageMiddleware):
    """Messages for the admin."""
