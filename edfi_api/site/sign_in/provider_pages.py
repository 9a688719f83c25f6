"""Logging in by the provider: the way there, and the way back.

The views of mozilla-django-oidc make and check state, nonce and PKCE verifier, and keep them in the session.
"""

import re
from typing import Any, cast
from urllib.parse import urlencode

import jwt
from django.contrib import admin, auth
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import ImproperlyConfigured
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from mozilla_django_oidc.views import OIDCAuthenticationCallbackView, OIDCAuthenticationRequestView

from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.remote_address import remote_address, subscriber
from edfi_api.core.security.federation.fetching import FetchFailed
from edfi_api.core.security.rate_limits import count_towards_limit
from edfi_api.site.sign_in import provider, sessions
from edfi_api.site.sign_in.backend import CALLBACK
from edfi_api.site.sign_in.sessions import LOGINS
from edfi_api.site.sign_in.users import NoGroup, NotAUser

_ERROR_CODE = re.compile(r"[a-z_]{1,60}", re.ASCII)

_UNUSABLE = "The identity provider cannot be reached, or its answer is not usable. Try again later."
_REFUSED = "The identity provider did not log you in."
_EXPIRED = "This login was begun elsewhere or too long ago. Begin again."
_INVALID = "The answer of the identity provider is not valid."
_NO_GROUP = (
    "You are logged in at the identity provider, but none of your groups may use this site. Ask an administrator to "
    "add you to one."
)
_INACTIVE = "Your account on this site is deactivated."
_TOO_MANY = "Too many attempts to log in. Try again in {wait} seconds."


class _LibrarySettings:
    """Answers what the library's views look up in Django's settings."""

    @staticmethod
    def get_settings(name: str, *default: Any) -> Any:
        ours = {
            "OIDC_AUTHENTICATION_CALLBACK_URL": lambda: CALLBACK,
            "OIDC_OP_AUTHORIZATION_ENDPOINT": lambda: provider.metadata().authorization_endpoint,
            "OIDC_REDIRECT_FIELD_NAME": lambda: REDIRECT_FIELD_NAME,
            "OIDC_RP_CLIENT_ID": lambda: api_settings.SIGN_IN_CLIENT_ID,
            "OIDC_RP_SCOPES": lambda: api_settings.SIGN_IN_SCOPES,
            "OIDC_USE_PKCE": lambda: True,
            "LOGIN_REDIRECT_URL": lambda: reverse("admin:index"),
        }
        if name in ours:
            return ours[name]()  # type: ignore[no-untyped-call]  # The lambdas have no annotations.
        if not default:
            raise ImproperlyConfigured(f"mozilla-django-oidc needs {name}")
        return default[0]


class _Start(_LibrarySettings, OIDCAuthenticationRequestView):  # type: ignore[misc]  # The library has no types.
    """Redirects to the provider."""


class _Callback(_LibrarySettings, OIDCAuthenticationCallbackView):  # type: ignore[misc]  # As above.
    """Handles the redirection back, with a code or an error."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Log in a person whose login was begun in this browser: others must not even end a session."""
        if request.GET.get("state") not in request.session.get("oidc_states", {}):
            return _refused(request, 400, _EXPIRED, "state")
        return cast(HttpResponse, super().get(request))

    def login_success(self) -> HttpResponse:
        target = self.success_url
        self.request.session.flush()
        auth.login(self.request, self.user)
        return HttpResponseRedirect(target)

    def login_failure(self) -> HttpResponse:
        """Answer a login with the code of a deactivated user, or with an error instead of a code."""
        if hasattr(self, "user"):
            return _refused(self.request, 403, _INACTIVE, "user is inactive")
        error = self.request.GET.get("error", "")
        return _refused(self.request, 403, _REFUSED, f"provider: {error if _ERROR_CODE.fullmatch(error) else 'error'}")


def start(request: HttpRequest) -> HttpResponse:
    """The redirection to the provider. `next` is kept if it is an address of this site."""
    response = _answered(request, lambda: _Start.as_view()(request))
    if not request.user.is_authenticated:
        request.session.set_expiry(sessions.UNFINISHED_SECONDS)
    return response


def callback(request: HttpRequest) -> HttpResponse:
    """The answer to the redirection back: the admin, or a page that says why not."""
    return _answered(request, lambda: _Callback.as_view()(request))


def logout_url(request: HttpRequest) -> str:
    """Return the address where a person logs out at the provider too (OpenID Connect RP-Initiated Logout 1.0); empty if
    it has no such address, or does not answer.
    """
    try:
        address = provider.metadata().end_session_endpoint
    except FetchFailed:
        return ""
    back = request.build_absolute_uri(reverse("admin:login"))
    query = urlencode({"client_id": api_settings.SIGN_IN_CLIENT_ID, "post_logout_redirect_uri": back})
    return f"{address}{'&' if '?' in address else '?'}{query}" if address else ""


def _answered(request: HttpRequest, view: Any) -> HttpResponse:
    if not api_settings.SIGN_IN_ISSUER:
        raise Http404
    address = subscriber(remote_address(request))
    if wait := count_towards_limit(f"logins by the provider from {address}", api_settings.PROVIDER_LOGINS_PER_MINUTE):
        return _refused(request, 429, _TOO_MANY.format(wait=wait), "too many logins")
    try:
        return cast(HttpResponse, view())
    except FetchFailed as error:
        return _refused(request, 503, _UNUSABLE, f"provider: {error}")
    except jwt.PyJWTError as error:
        return _refused(request, 403, _INVALID, f"ID token: {error}")
    except NoGroup:
        return _refused(request, 403, _NO_GROUP, "no group")
    except NotAUser as error:
        return _refused(request, 403, _INVALID, str(error))


def _refused(request: HttpRequest, status: int, message: str, reason: str) -> HttpResponse:
    """A page with a way back to the login."""
    LOGINS.labels("provider", "refused").inc()
    audit.log_denial(reason=f"login by provider: {reason}", status=status, address=remote_address(request))
    context = {
        **admin.site.each_context(request),
        "title": "Login refused",
        "message": message,
    }
    return TemplateResponse(request, "sign_in/refused.html", context, status=status)
