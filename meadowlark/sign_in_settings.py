"""Settings of logging in to the admin."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from edfi_api.security.federation.claim_paths import is_path
from edfi_api.security.federation.issuers import is_safe
from meadowlark.environment import Environment

_PASSWORDS = "django.contrib.auth.backends.ModelBackend"
_PROVIDER_BACKEND = "edfi_api.operation.sign_in.backend.ProviderBackend"


def sign_in_settings(env: Environment) -> dict[str, Any]:
    """Entries of `EDFI_API`. Raises ImproperlyConfigured for settings that are incomplete or exclude every login."""
    found = {
        "SECOND_FACTOR": env.choice(
            "MEADOWLARK_SECOND_FACTOR",
            choices=["optional", "required"],
            meaning="users who log in to the admin by password may (`optional`) or must (`required`) also give a code "
            "of an [authenticator app](meadowlark/docs/operate/identity-providers.md#a-second-factor)",
        ),
        "PASSWORD_LOGIN": env.bool(
            "MEADOWLARK_PASSWORD_LOGIN",
            default=True,
            meaning="users of the admin may log in by password; without, only `MEADOWLARK_BREAK_GLASS_USERS`",
        ),
        "BREAK_GLASS_USERS": tuple(
            env.list(
                "MEADOWLARK_BREAK_GLASS_USERS",
                default=[],
                meaning="names of users who may always log in by password, separated by commas",
            )
        ),
        "SIGN_IN_ISSUER": env.str(
            "MEADOWLARK_SIGN_IN_ISSUER",
            default="",
            meaning="[OpenID provider](meadowlark/docs/operate/identity-providers.md#signing-in-to-the-admin) by "
            "which people log in to the admin: its issuer",
        ),
        "SIGN_IN_CLIENT_ID": env.str(
            "MEADOWLARK_SIGN_IN_CLIENT_ID", default="", meaning="this server's client id at the provider"
        ),
        "SIGN_IN_CLIENT_SECRET": env.str("MEADOWLARK_SIGN_IN_CLIENT_SECRET", default="", meaning="its client secret"),
        "SIGN_IN_NAME": env.str(
            "MEADOWLARK_SIGN_IN_NAME", default="single sign-on", meaning="what the login page calls the provider"
        ),
        "SIGN_IN_SCOPES": env.str(
            "MEADOWLARK_SIGN_IN_SCOPES",
            default="openid profile email",
            meaning="scopes that are requested, separated by spaces",
        ),
        "SIGN_IN_USERNAME_CLAIM": env.str(
            "MEADOWLARK_SIGN_IN_USERNAME_CLAIM",
            default="preferred_username",
            meaning="claim with the name that a new user gets",
        ),
        "SIGN_IN_GROUPS_CLAIM": env.str(
            "MEADOWLARK_SIGN_IN_GROUPS_CLAIM",
            default="groups",
            meaning="claim with groups or roles, as a path: `realm_access.roles`",
        ),
        "SIGN_IN_GROUPS": tuple(
            _pair(each)
            for each in env.list(
                "MEADOWLARK_SIGN_IN_GROUPS",
                default=[],
                meaning="which values of the claim give which groups of the admin: "
                "`edfi-ops=operator,edfi-data=steward`",
            )
        ),
        "SIGN_IN_SUPERUSERS": tuple(
            env.list(
                "MEADOWLARK_SIGN_IN_SUPERUSERS",
                default=[],
                meaning="values of the claim that make superusers, separated by commas",
            )
        ),
    }
    _check(found)
    return found


def authentication_backends(sign_in: dict[str, Any]) -> list[str]:
    """Django's AUTHENTICATION_BACKENDS."""
    return [_PASSWORDS, *([_PROVIDER_BACKEND] if sign_in["SIGN_IN_ISSUER"] else [])]


def _pair(text: str) -> tuple[str, str]:
    value, _, group = text.rpartition("=")
    if not value.strip() or not group.strip():
        raise ImproperlyConfigured(f"MEADOWLARK_SIGN_IN_GROUPS has {text!r}; an entry is VALUE=GROUP.")
    return value.strip(), group.strip()


def _check(found: dict[str, Any]) -> None:
    if not found["SIGN_IN_ISSUER"]:
        if not found["PASSWORD_LOGIN"] and not found["BREAK_GLASS_USERS"]:
            raise ImproperlyConfigured(
                "With MEADOWLARK_PASSWORD_LOGIN=false and without MEADOWLARK_SIGN_IN_ISSUER and "
                "MEADOWLARK_BREAK_GLASS_USERS no login to the admin is possible."
            )
        return
    if not is_safe(found["SIGN_IN_ISSUER"]):
        raise ImproperlyConfigured("MEADOWLARK_SIGN_IN_ISSUER must be an address of HTTPS.")
    missing = [f"MEADOWLARK_{name}" for name in ("SIGN_IN_CLIENT_ID", "SIGN_IN_CLIENT_SECRET") if not found[name]]
    if not found["SIGN_IN_GROUPS"] and not found["SIGN_IN_SUPERUSERS"]:
        missing.append("MEADOWLARK_SIGN_IN_GROUPS")
    if missing:
        raise ImproperlyConfigured(f"MEADOWLARK_SIGN_IN_ISSUER also needs {' and '.join(missing)}.")
    if not is_path(found["SIGN_IN_GROUPS_CLAIM"]):
        raise ImproperlyConfigured("MEADOWLARK_SIGN_IN_GROUPS_CLAIM is not a path such as realm_access.roles.")
    if "openid" not in found["SIGN_IN_SCOPES"].split():
        raise ImproperlyConfigured("MEADOWLARK_SIGN_IN_SCOPES must have openid.")
