"""Whether the settings of logging in to the admin fit together, and Django's backends for them."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from edfi_api.core.security.issuers import is_path, is_safe

_PASSWORDS = "django.contrib.auth.backends.ModelBackend"
_PROVIDER_BACKEND = "edfi_api.site.sign_in.backend.ProviderBackend"


def authentication_backends(values: Mapping[str, Any]) -> list[str]:
    """Django's AUTHENTICATION_BACKENDS for the values of the settings by name.

    Raises ImproperlyConfigured for settings that are incomplete or exclude every login.
    """
    _check(values)
    return [_PASSWORDS, *([_PROVIDER_BACKEND] if values["SIGN_IN_ISSUER"] else [])]


def _check(values: Mapping[str, Any]) -> None:
    if not values["SIGN_IN_ISSUER"]:
        if not values["PASSWORD_LOGIN"] and not values["BREAK_GLASS_USERS"]:
            raise ImproperlyConfigured(
                "With MEADOWLARK_PASSWORD_LOGIN=false and without MEADOWLARK_SIGN_IN_ISSUER and "
                "MEADOWLARK_BREAK_GLASS_USERS no login to the admin is possible."
            )
        return
    if not is_safe(values["SIGN_IN_ISSUER"]):
        raise ImproperlyConfigured("MEADOWLARK_SIGN_IN_ISSUER must be an address of HTTPS.")
    missing = [f"MEADOWLARK_{name}" for name in ("SIGN_IN_CLIENT_ID", "SIGN_IN_CLIENT_SECRET") if not values[name]]
    if not values["SIGN_IN_GROUPS"] and not values["SIGN_IN_SUPERUSERS"]:
        missing.append("MEADOWLARK_SIGN_IN_GROUPS")
    if missing:
        raise ImproperlyConfigured(f"MEADOWLARK_SIGN_IN_ISSUER also needs {' and '.join(missing)}.")
    if not is_path(values["SIGN_IN_GROUPS_CLAIM"]):
        raise ImproperlyConfigured("MEADOWLARK_SIGN_IN_GROUPS_CLAIM is not a path such as realm_access.roles.")
    if "openid" not in values["SIGN_IN_SCOPES"].split():
        raise ImproperlyConfigured("MEADOWLARK_SIGN_IN_SCOPES must have openid.")
