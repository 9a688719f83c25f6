"""The Django app of the management API, and its deployment check: registration has to be closed."""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register

from edfi_api.common.conf import api_settings

_LOCAL = {"localhost", "127.0.0.1", "[::1]"}


class ManagementApiConfig(AppConfig):
    """The Django app with the tables of management clients and their tokens."""

    name = "edfi_api.features.management_api"
    label = "management_api"
    verbose_name = "Management API"


@register(Tags.security, deploy=True)
def registration_is_closed(**_: Any) -> list[CheckMessage]:
    """Warn of open registration, which gives full access to every caller."""
    is_on = api_settings.MANAGEMENT_PATH or api_settings.MANAGEMENT_ONLY
    if not (api_settings.MANAGEMENT_REGISTRATION and is_on) or set(settings.ALLOWED_HOSTS) <= _LOCAL:
        return []
    return [
        Warning(
            "Every caller that reaches the server can register a management client with full access.",
            hint="Unset MEADOWLARK_MANAGEMENT_REGISTRATION; manage.py create_management_client makes clients.",
            id="management_api.W001",
        )
    ]
