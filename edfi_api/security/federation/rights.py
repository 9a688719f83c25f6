"""The rights that a token claims, in the mode `claims`: checked, and within what its issuer may say."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from edfi_api.data_stores.tenants import visible_to

from ..models import ClaimSet
from .claim_paths import ClaimMalformed, positive_numbers, texts, value_at
from .validation import ValidToken

_MOST_CANDIDATES = 100


@dataclass(frozen=True)
class ClaimedRights:
    """With the names of the attributes of `AuthenticatedClient` that they replace."""

    claim_set_id: int
    claim_set_name: str
    namespace_prefixes: tuple[str, ...]
    education_organization_ids: tuple[int, ...]
    data_store_ids: frozenset[int]


def claimed_rights(valid: ValidToken, tenant_id: int | None) -> ClaimedRights:
    """What the token claims for a client of the tenant.

    Raises TokenRefused: a claim that is not understood must neither widen nor silently narrow rights.
    """
    paths, allowed = valid.issuer.claims, valid.issuer.claims.allowed
    claim_set = _claim_set(valid, tenant_id)
    try:
        prefixes = texts(value_at(valid.claims, paths.namespace_prefixes))
        organizations = positive_numbers(value_at(valid.claims, paths.education_organization_ids))
        stores = positive_numbers(value_at(valid.claims, paths.data_store_ids))
    except ClaimMalformed:
        raise valid.refused("claims") from None
    bounds = allowed.namespace_prefixes
    is_within = bounds is None or all(prefix.startswith(bounds) for prefix in prefixes)
    if not (
        is_within and _within(organizations, allowed.education_organizations) and _within(stores, allowed.data_stores)
    ):
        raise valid.refused("claims")
    return ClaimedRights(claim_set.pk, claim_set.name, prefixes, organizations, frozenset(stores))


def _within(values: Collection[int], allowed: Collection[int] | None) -> bool:
    return allowed is None or set(values) <= set(allowed)


def _claim_set(valid: ValidToken, tenant_id: int | None) -> ClaimSet:
    """The only claim set that the token names; other roles and scopes may stand beside it."""
    names = _candidates(value_at(valid.claims, valid.issuer.claims.claim_set))
    found = list(ClaimSet.objects.filter(visible_to(tenant_id), name__in=names)[:2])
    allowed = valid.issuer.claims.allowed.claim_sets
    if len(found) != 1 or (allowed is not None and found[0].name not in allowed):
        raise valid.refused("claim set")
    return found[0]


def _candidates(value: Any) -> list[str]:
    """The whole text too: a name of a claim set may have blanks."""
    items = [value, *value.split()] if isinstance(value, str) else value if isinstance(value, list) else []
    return [each for each in items[:_MOST_CANDIDATES] if isinstance(each, str) and each.isprintable()]
