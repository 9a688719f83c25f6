"""Resource claims and claim sets in the database: read as values, compare with given ones, write the difference.

A change is described before it is written, one line per item. Claims and claim sets that are not mentioned are left
unchanged. Claim sets are those of one tenant, or the shared ones; resource claims are shared by all tenants.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Lower

from edfi_api.common.logs import audit
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.stores import visible_to
from edfi_api.core.security.claim_names import DOMAINS, SERVICES
from edfi_api.core.security.claims.model import ByAction, Claims, ClaimSetValue, Grants, ResourceClaimValue, Strategies
from edfi_api.core.security.models import (
    Application,
    ClaimSet,
    ClaimsVersion,
    DefaultStrategies,
    Grant,
    OverridingStrategies,
    ResourceClaim,
)


class UnknownClaims(Exception):
    """Grants name domains or services that do not exist."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(f"there is no such resource claim: {', '.join(sorted(names))}")


class NotOfTheTenant(Exception):
    """A tenant cannot load these: resource claims, and claim sets whose names are taken by shared ones; or shared claim
    sets with the names of a tenant's; or names that are taken in other case."""


@dataclass(frozen=True)
class ClaimsChange:
    """The change to write, as `lines` for people and as `claims`; `left_out` are grants on unknown resources."""

    lines: tuple[str, ...]
    claims: Claims
    left_out: tuple[str, ...]


def lock_claims() -> None:
    """Keep other transactions from changing claims and claim sets until this one ends. Every change locks this row
    first, so that no two transactions wait for each other."""
    ClaimsVersion.objects.select_for_update().first()


def hold_claims() -> None:
    """Hold the claims for a transaction that only reads: others may read too."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM claims_version FOR SHARE")


@transaction.atomic
def load(wanted: Claims, by: str, *, tenant: Tenant | None = None, is_dry_run: bool = False) -> ClaimsChange:
    """Write what differs from `wanted`; a dry run only computes the change. The claim sets become the tenant's,
    without one shared.

    `by` names the user or command in the audit log. Raises `UnknownClaims` and `NotOfTheTenant`.
    """
    lock_claims()
    _refuse_what_is_not_of(tenant, wanted)
    present = stored_claims(tenant)
    change = difference(present, wanted)
    if change.lines and not is_dry_run:
        _write(change.claims, tenant)
        # The log line of a new database leaves out the names: the bundled claim sets are the same everywhere.
        names = ", ".join(change.claims.claim_sets) if present.claim_sets else None
        audit.log_change("claims changed", changes=len(change.lines), claim_sets=names or None, by=by)
    return change


def _refuse_what_is_not_of(tenant: Tenant | None, wanted: Claims) -> None:
    if tenant is not None and wanted.resource_claims:
        names = ", ".join(sorted(wanted.resource_claims))
        raise NotOfTheTenant(f"resource claims are shared by all tenants: {names}")
    others = ClaimSet.objects.filter(name__in=wanted.claim_sets, tenant__isnull=tenant is not None)
    if taken := sorted(set(others.values_list("name", flat=True))):
        whose = "shared claim sets" if tenant is not None else "claim sets of tenants"
        raise NotOfTheTenant(f"there are {whose} with these names: {', '.join(taken)}")
    _refuse_names_in_other_case(tenant, wanted)


def _refuse_names_in_other_case(tenant: Tenant | None, wanted: Claims) -> None:
    names = Counter(name.lower() for name in wanted.claim_sets)
    visible = ClaimSet.objects.filter(visible_to(tenant) if tenant else Q()).exclude(name__in=wanted.claim_sets)
    stored = visible.annotate(lower=Lower("name")).filter(lower__in=names).values_list("name", flat=True)
    alike = [name for name in wanted.claim_sets if names[name.lower()] > 1]
    if taken := sorted(stored):
        raise NotOfTheTenant(f"there are claim sets with these names in other case: {', '.join(taken)}")
    if alike:
        raise NotOfTheTenant(f"names of claim sets differ in case only: {', '.join(sorted(alike))}")


def stored_claims(tenant: Tenant | None = None) -> Claims:
    """The resource claims, and the claim sets of the tenant; without one the shared claim sets."""
    claims = stored_resource_claims()
    rows = list(ClaimSet.objects.filter(tenant=tenant).values_list("pk", "name", "description"))
    grants = stored_grants([pk for pk, _, _ in rows])
    return Claims(claims, {name: ClaimSetValue(description, grants[pk]) for pk, name, description in rows})


def stored_resource_claims() -> dict[str, ResourceClaimValue]:
    """All resource claims, by name."""
    defaults: dict[str, ByAction] = {}
    rows = DefaultStrategies.objects.order_by().values_list("resource_claim__name", "action", "strategies")
    for name, action, strategies in rows:
        defaults.setdefault(name, {})[action] = tuple(strategies)
    parents = ResourceClaim.objects.values_list("name", "parent__name")
    return {name: ResourceClaimValue(parent, defaults.get(name, {})) for name, parent in parents}


def stored_names() -> list[str]:
    """The names of all resource claims."""
    return list(ResourceClaim.objects.values_list("name", flat=True))


def stored_grants(claim_set_ids: Sequence[int]) -> dict[int, Grants]:
    """The grants of these claim sets, by their ids."""
    found: dict[int, Grants] = {each: {} for each in claim_set_ids}
    rows = Grant.objects.filter(claim_set_id__in=claim_set_ids).values_list(
        "claim_set_id", "resource_claim__name", "actions"
    )
    for claim_set, claim, actions in rows:
        found[claim_set][claim] = dict.fromkeys(actions, ())
    overrides = OverridingStrategies.objects.order_by().filter(grant__claim_set_id__in=claim_set_ids)
    for claim_set, claim, action, strategies in overrides.values_list(
        "grant__claim_set_id", "grant__resource_claim__name", "action", "strategies"
    ):
        # Strategies of an action that is no longer granted are left.
        if action in found[claim_set].get(claim, ()):
            found[claim_set][claim][action] = tuple(strategies)
    return found


def difference(present: Claims, wanted: Claims) -> ClaimsChange:
    """The part of `wanted` that differs from `present`. Raises `UnknownClaims` for missing domains and services.

    Resources vary by data standard and extension, so a grant on one without a claim is left out instead.
    """
    known = present.resource_claims.keys() | wanted.resource_claims.keys()
    unknown = {name for each in wanted.claim_sets.values() for name in each.grants if name not in known}
    if missing := [name for name in unknown if name.startswith((DOMAINS, SERVICES))]:
        raise UnknownClaims(missing)
    claim_sets = {name: _without(unknown, each) for name, each in wanted.claim_sets.items()}
    resource_claims = {
        name: _with_defaults_of(present.resource_claims.get(name), value)
        for name, value in wanted.resource_claims.items()
    }
    new = Claims(
        {name: value for name, value in resource_claims.items() if present.resource_claims.get(name) != value},
        {name: value for name, value in claim_sets.items() if present.claim_sets.get(name) != value},
    )
    return ClaimsChange(tuple(_lines(present, new)), new, tuple(sorted(unknown)))


def _without(unknown: set[str], claim_set: ClaimSetValue) -> ClaimSetValue:
    grants = {name: actions for name, actions in claim_set.grants.items() if name not in unknown}
    return ClaimSetValue(claim_set.description, grants)


def _with_defaults_of(present: ResourceClaimValue | None, wanted: ResourceClaimValue) -> ResourceClaimValue:
    if wanted.defaults is not None:
        return wanted
    return ResourceClaimValue(wanted.parent, present.defaults if present else {})


def _lines(present: Claims, new: Claims) -> Iterator[str]:
    for name, claim in new.resource_claims.items():
        yield from _claim_lines(name, present.resource_claims.get(name), claim)
    for name, claim_set in new.claim_sets.items():
        yield from _claim_set_lines(name, present.claim_sets.get(name), claim_set)


def _claim_lines(name: str, before: ResourceClaimValue | None, after: ResourceClaimValue) -> Iterator[str]:
    if before is None:
        yield f"+ resource claim {name}" + (f" in {after.parent}" if after.parent else "")
    elif before.parent != after.parent:
        yield f"~ resource claim {name}: moved from {before.parent} to {after.parent}"
    defaults = before.defaults if before else None
    yield from _action_lines(f"default of {name}", defaults or {}, after.defaults or {})


def _claim_set_lines(name: str, before: ClaimSetValue | None, after: ClaimSetValue) -> Iterator[str]:
    if before is None:
        yield f"+ claim set {name}"
    elif before.description != after.description:
        yield f"~ claim set {name}: new description"
    granted = before.grants if before else {}
    for claim in sorted(granted.keys() | after.grants.keys()):
        yield from _action_lines(f"{name}: {claim}", granted.get(claim, {}), after.grants.get(claim, {}))


def _action_lines(of: str, before: ByAction, after: ByAction) -> Iterator[str]:
    for action in sorted(before.keys() - after.keys()):
        yield f"- {of}: {action}{_named(before[action])}"
    for action in sorted(after.keys() - before.keys()):
        yield f"+ {of}: {action}{_named(after[action])}"
    for action in sorted(before.keys() & after.keys()):
        if before[action] != after[action]:
            yield f"~ {of}: {action}{_named(before[action])} becomes{_named(after[action])}"


def _named(strategies: Strategies) -> str:
    return f" by {', '.join(strategies)}" if strategies else " by the defaults"


def replace_all(claims: Claims, by: str) -> None:
    """Store the claims and shared claim sets, and remove all others. Applications go on to name theirs. Needs a
    transaction. Raises NotOfTheTenant."""
    lock_claims()
    gone = ClaimSet.objects.filter(tenant=None).exclude(name__in=claims.claim_sets)
    Application.objects.filter(claim_set__in=gone).update(claim_set=None)
    gone.delete()
    superfluous = ResourceClaim.objects.exclude(name__in=claims.resource_claims)
    Grant.objects.filter(resource_claim__in=superfluous).delete()
    load(claims, by)
    # Their children have other parents by now, or are superfluous themselves.
    ids = list(superfluous.values_list("pk", flat=True))
    ResourceClaim.objects.filter(pk__in=ids).update(parent=None)
    ResourceClaim.objects.filter(pk__in=ids).delete()


def reserve(names: Iterable[str]) -> None:
    """Mark the shared claim sets of these names as ones that come along."""
    ClaimSet.objects.filter(tenant=None, name__in=list(names), is_system_reserved=False).update(is_system_reserved=True)


def _write(claims: Claims, tenant: Tenant | None) -> None:
    _write_resource_claims(claims.resource_claims)
    ids = dict(ResourceClaim.objects.values_list("name", "id"))
    _write_claim_sets(claims.claim_sets, ids, tenant)


def _write_resource_claims(claims: Mapping[str, ResourceClaimValue]) -> None:
    # First all of them, so that each can point at any other.
    ResourceClaim.objects.bulk_create([ResourceClaim(name=name) for name in claims], ignore_conflicts=True)
    ids = dict(ResourceClaim.objects.values_list("name", "id"))
    ResourceClaim.objects.bulk_create(
        [ResourceClaim(name=name, parent_id=ids.get(claim.parent or "")) for name, claim in claims.items()],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["parent"],
    )
    DefaultStrategies.objects.filter(resource_claim__name__in=claims).delete()
    DefaultStrategies.objects.bulk_create(
        DefaultStrategies(resource_claim_id=ids[name], action=action, strategies=list(strategies))
        for name, claim in claims.items()
        for action, strategies in (claim.defaults or {}).items()
    )


def _write_claim_sets(
    claim_sets: Mapping[str, ClaimSetValue], claim_ids: Mapping[str, int], tenant: Tenant | None
) -> None:
    ClaimSet.objects.bulk_create(
        [ClaimSet(tenant=tenant, name=name, description=each.description) for name, each in claim_sets.items()],
        update_conflicts=True,
        unique_fields=["tenant", "name"],
        update_fields=["description"],
    )
    ids = dict(ClaimSet.objects.filter(tenant=tenant).values_list("name", "id"))
    Grant.objects.filter(claim_set__tenant=tenant, claim_set__name__in=claim_sets).delete()
    granted = [
        (Grant(claim_set_id=ids[name], resource_claim_id=claim_ids[claim], actions=list(actions)), actions)
        for name, each in claim_sets.items()
        for claim, actions in each.grants.items()
    ]
    Grant.objects.bulk_create(grant for grant, _ in granted)
    OverridingStrategies.objects.bulk_create(
        OverridingStrategies(grant=grant, action=action, strategies=list(strategies))
        for grant, actions in granted
        for action, strategies in actions.items()
        if strategies
    )
