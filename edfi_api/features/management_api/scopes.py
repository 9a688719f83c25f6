"""Scopes of management clients."""

from collections.abc import Iterable
from enum import StrEnum


class Scope(StrEnum):
    """The scopes of management tokens, named as Ed-Fi's servers name them."""

    FULL_ACCESS = "edfi_admin_api/full_access"
    READ_ONLY = "edfi_admin_api/readonly_access"
    # All that a server needs to know that authorizes by this one: data stores, clients, claim sets.
    AUTHORIZATION_METADATA = "edfi_admin_api/authMetadata_readonly_access"


def granted(requested: str, to_client: Iterable[str]) -> list[str]:
    """The scopes of a token: those that are requested, separated by blanks or commas, and assigned to the client; all
    that are assigned if none is requested."""
    named = set(requested.replace(",", " ").split())
    return [scope for scope in to_client if not named or scope in named]
