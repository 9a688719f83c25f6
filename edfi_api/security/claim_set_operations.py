"""One claim set by itself: exported, copied, or with other grants."""

from typing import Any

from .claim_set_exchange import Grants, exported
from .claims import all_defaults
from .claims_file import Claims, ClaimSetValue
from .claims_store import load, stored_claims
from .models import ClaimSet


def export_claim_set(claim_set: ClaimSet) -> dict[str, Any]:
    """Its name and resource claims, as `claim_set_exchange` has them. Needs a transaction, in which claims are held
    before `claim_set` is read."""
    claims = stored_claims(claim_set.tenant)
    grants = claims.claim_sets[claim_set.name].grants
    return {"claimSetName": claim_set.name, "resourceClaims": exported(grants, claims, all_defaults())}


def copy_claim_set(original: ClaimSet, copy: ClaimSet, by: str) -> None:
    """Store `copy` with the grants of `original`. Needs a transaction, in which claims are locked before `original` is
    read. Raises IntegrityError where the name is taken."""
    grants = stored_claims(original.tenant).claim_sets[original.name].grants
    copy.save(force_insert=True)
    replace_grants(copy, grants, by)


def replace_grants(claim_set: ClaimSet, grants: Grants, by: str) -> None:
    """Let a stored claim set grant this and nothing else. Needs a transaction, in which claims are locked before."""
    load(Claims({}, {claim_set.name: ClaimSetValue(claim_set.description, grants)}), by, tenant=claim_set.tenant)
