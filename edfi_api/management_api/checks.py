"""The deployment check of the management API: registration has to be closed."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register

from edfi_api.conf import api_settings

_LOCAL = {"localhost", "127.0.0.1", "[::1]"}


@register(Tags.security, deploy=True)
def registration_is_closed(**_: Any) -> list[CheckMessage]:
    """Warn of open registration, which gives full access to every caller."""
    if not (api_settings.MANAGEMENT_REGISTRATION and is_on()) or set(settings.ALLOWED_HOSTS) <= _LOCAL:
        return []
    return [
        Warning(
            "Every caller that reaches the server can register a management client with full access.",
            hint="Unset MEADOWLARK_MANAGEMENT_REGISTRATION; manage.py create_management_client makes clients.",
            id="management_api.W001",
        )
    ]


def is_on() -> bool:
    """Whether the server has a management API."""
    return bool(api_settings.MANAGEMENT_PATH or api_settings.MANAGEMENT_ONLY)
