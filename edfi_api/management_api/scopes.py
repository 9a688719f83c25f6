"""Scopes of management clients, and which requests each of them allows."""

from collections.abc import Collection, Iterable
from enum import StrEnum


class Scope(StrEnum):
    """Named as Ed-Fi's servers name them."""

    FULL_ACCESS = "edfi_admin_api/full_access"
    READ_ONLY = "edfi_admin_api/readonly_access"
    # What a server needs to know that authorizes by it: data stores, clients, claim sets.
    AUTHORIZATION_METADATA = "edfi_admin_api/authMetadata_readonly_access"


def allows(scopes: Collection[str], *, is_read: bool, is_authorization_metadata: bool) -> bool:
    """Whether one of the scopes allows the request."""
    if Scope.FULL_ACCESS in scopes:
        return True
    return is_read and (
        Scope.READ_ONLY in scopes or (is_authorization_metadata and Scope.AUTHORIZATION_METADATA in scopes)
    )


def granted(requested: str, to_client: Iterable[str]) -> list[str]:
    """The scopes of a token: those that are requested, separated by blanks or commas, and assigned to the client; all
    that are assigned if none is requested."""
    named = set(requested.replace(",", " ").split())
    return [scope for scope in to_client if not named or scope in named]
