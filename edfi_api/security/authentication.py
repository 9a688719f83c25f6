"""The `Authorization` header of a data request → the client that sent it, in Django REST framework's terms.

The permission class lets every API client pass. What a client's claim set grants depends on the resource and the
action, and is decided by `authorization.authorize`, which the views call in addition to the permission classes of the
settings.
"""

import re

from django.views import View
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from .exceptions import AuthenticationFailed
from .tokens import AuthenticatedClient, client_of_token

# RFC 9110 §11.4: a scheme is an HTTP token; RFC 6750 §2.1: a bearer token is a b64token.
_HEADER = re.compile(r"(?P<scheme>[\w!#$%&'*+.^`|~-]+)(?: +(?P<value>.*))?", re.ASCII)
_USUAL_BEGINNING = "Bearer "
_BEARER_TOKEN = re.compile(r"[\w.~+/-]+=*", re.ASCII)


class BearerTokenAuthentication(BaseAuthentication):
    """Makes the `AuthenticatedClient` the user of a request, and its token `request.auth`.

    A missing header is refused too, because every route needs a client by default; public views set
    `authentication_classes = []`.
    """

    def authenticate(self, request: Request) -> tuple[AuthenticatedClient, str]:
        token = bearer_token(request.META.get("HTTP_AUTHORIZATION", ""))
        client = client_of_token(token)
        if client is None:
            raise AuthenticationFailed("Invalid token")
        request._request.client_key = client.key  # type: ignore[attr-defined]  # for the logs
        if client.tenant is not None:
            request._request.tenant = client.tenant  # type: ignore[attr-defined]  # for the logs
        return client, token


def bearer_token(header: str) -> str:
    """The token in an `Authorization` header; `AuthenticationFailed` says why there is none."""
    if header.startswith(_USUAL_BEGINNING) and _BEARER_TOKEN.fullmatch(header, len(_USUAL_BEGINNING)):
        return header[len(_USUAL_BEGINNING) :]
    header = header.strip()
    if not header:
        raise AuthenticationFailed("Authorization header is missing.")
    parts = _HEADER.fullmatch(header)
    if parts is None:
        raise AuthenticationFailed("Invalid Authorization header.")
    if parts["scheme"].lower() != "bearer":
        raise AuthenticationFailed("Unknown Authorization header scheme.")
    if not parts["value"]:
        raise AuthenticationFailed("Missing Authorization header bearer token value.")
    if not _BEARER_TOKEN.fullmatch(parts["value"]):
        raise AuthenticationFailed("Invalid Authorization header.")
    return parts["value"]


class IsApiClient(BasePermission):
    """Refuses requests without a valid token."""

    def has_permission(self, request: Request, view: View) -> bool:
        return isinstance(request.user, AuthenticatedClient)
