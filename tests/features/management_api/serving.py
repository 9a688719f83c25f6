"""A server with the management API at `/config`, in the process of the tests."""

from functools import cache
from types import ModuleType
from typing import Any

from pytest_django import Settings

from edfi_api.features.management_api.urls import management_routes
from edfi_api.web.metadata.claim_sets import claim_set_routes


def serve_management_api(settings: Settings, **others: Any) -> None:
    """Until the end of the test, with other settings of the API."""
    settings.ROOT_URLCONF = _urls()
    settings.EDFI_API = {
        **settings.EDFI_API,
        "MANAGEMENT_PATH": "config",
        "TOKEN_REQUESTS_PER_MINUTE": 0,
        "TOKENS_PER_MINUTE": 0,
        "STORE_KEYS": ("a key of tests",),
        **others,
    }


@cache
def _urls() -> ModuleType:
    from meadowlark import urls  # noqa: PLC0415  It compiles the configured surface.

    module = ModuleType("urls_with_management")
    vars(module).update(vars(urls))
    module.urlpatterns = [*urls.urlpatterns, *claim_set_routes(), *management_routes("config")]
    return module
