"""Who sends requests to the management API: a client of this server, or one of an identity provider."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from edfi_api.security.exceptions import AuthenticationFailed
from edfi_api.security.federation.claim_paths import value_at
from edfi_api.security.federation.issuers import issuers
from edfi_api.security.federation.refusing import check_not_refused
from edfi_api.security.federation.validation import ValidToken, is_signed, refused, validated

from .clients import find_token
from .scopes import Scope


@dataclass(frozen=True)
class Caller:
    """`name` is that of logs, `bucket` that of its rate limit."""

    name: str
    bucket: str
    scopes: Collection[str]


def caller_of(token: str) -> Caller:
    """Raises AuthenticationFailed, of which TokenRefused is one, and IdentityProviderAway."""
    may_be_federated = is_signed(token) and bool(issuers())
    if may_be_federated and (valid := validated(token, "management")):
        check_not_refused(valid)
        name = f"{valid.client} of {valid.issuer.issuer}"
        return Caller(name, f"requests of {name}", _scopes(valid))
    found = find_token(token)
    if found is not None:
        return Caller(found.client.key, f"requests of management client {found.client_id}", found.scopes)
    if may_be_federated:
        raise refused("unknown issuer")
    raise AuthenticationFailed("Invalid token")


def _scopes(valid: ValidToken) -> list[str]:
    """The scopes of the management API among all that the token has."""
    claimed = (value_at(valid.claims, path) for path in valid.issuer.claims.scopes)
    names = {name for value in claimed for name in _names(value)}
    return [scope for scope in Scope if scope in names]


def _names(value: Any) -> Iterable[str]:
    items = value.split() if isinstance(value, str) else value if isinstance(value, list) else ()
    return (each for each in items if isinstance(each, str))
