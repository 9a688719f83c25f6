"""A server below the path `/edfi` of a proxy, in the process of the tests."""

from typing import Any

from pytest_django import Settings

ROOT = "https://sis.example/edfi"
# What the proxy sends with each request.
HEADERS = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "sis.example", "X-Forwarded-Prefix": "/edfi"}


def serve_below_a_path(settings: Settings, **others: Any) -> None:
    """Until the end of the test, with what `MEADOWLARK_BEHIND_PROXY` installs, and other settings of the API."""
    settings.MIDDLEWARE = [
        "edfi_api.web.path_prefix.PathPrefixMiddleware",
        "edfi_api.web.middleware.ForwardedHeadersMiddleware",
        *settings.MIDDLEWARE,
    ]
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": "edfi_api.web.path_prefix.StaticFiles"}}
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.USE_X_FORWARDED_HOST = True
    settings.ALLOWED_HOSTS = ["sis.example"]
    settings.EDFI_API = {**settings.EDFI_API, "BEHIND_PROXY": True, **others}
