"""System checks of the file of identity providers, and of the claims in the database: every resource has a claim, the
configured strategies exist, and the resource has the elements that they need.

The latter run with `migrate` and with `manage.py check --database default`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connections

from edfi_api.core.security.claim_names import claim_name
from edfi_api.core.security.claims.compile import all_defaults, granted_strategies
from edfi_api.core.security.claims.file import UNSECURED
from edfi_api.core.security.claims.model import Strategies
from edfi_api.core.security.claims.stored_claims import stored_claims
from edfi_api.core.security.claims.validation import is_applicable, unknown_for, unknown_in
from edfi_api.core.security.issuers import IssuersFileInvalid, faults, issuers, may_grant_every_claim_set
from edfi_api.core.security.models import Application, ClaimSet, OverridingStrategies, ResourceClaim
from edfi_api.core.served import current_surface
from edfi_api.model.surface.resource import Resource, Surface


@register(Tags.security)
def issuers_can_be_read(**_: Any) -> list[CheckMessage]:
    """Find what is wrong with the file of identity providers."""
    try:
        return [Error(fault, id="security.E002") for fault in faults()]
    except IssuersFileInvalid as error:
        return [Error(str(error), id="security.E001")]


@register(Tags.security, deploy=True)
def issuers_are_bounded(**_: Any) -> list[CheckMessage]:
    """Warn of identity providers that decide alone about rights."""
    try:
        unbounded = [name for name, each in issuers().items() if may_grant_every_claim_set(each)]
    except IssuersFileInvalid:
        return []
    return _warning("W007", "May grant every claim set, FullAccess too", unbounded, _ALLOWED)


@register(Tags.database)
def resources_have_claims(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Warn of resources that no claim set can grant, and of those that only claim sets with overrides can grant."""
    if "default" not in (databases or ()) or not _has_tables():
        return []
    parents = dict(ResourceClaim.objects.values_list("name", "parent__name"))
    if not parents:
        return []
    names = {claim_name(resource) for resource in current_surface().resources}
    missing = sorted(names - parents.keys())
    unsecured = sorted(name for name in names & parents.keys() if parents[name] == UNSECURED)
    return [
        *_warning("W001", "There is no resource claim for", missing),
        *_warning("W002", _UNSECURED, unsecured),
        *_warning("W003", "Default strategies lack the element they need in", _not_applicable(current_surface())),
        *_warning(
            "W005", "Strategies lack the element they need in", _not_applicable_in_claim_sets(current_surface()), _SET
        ),
        *_warning("W006", "There are no such claim sets", _missing_claim_sets(), _MISSING_SET),
        *_warning("W004", "There are no such strategies", unknown_in(stored_claims(), current_surface()), _STRATEGY),
    ]


def _missing_claim_sets() -> list[str]:
    """Claim sets that applications name, each with the applications."""
    unresolved = (
        Application.objects.filter(claim_set=None).exclude(claim_set_name="").order_by("claim_set_name", "name")
    )
    return [f"{claim_set} (of {name})" for claim_set, name in unresolved.values_list("claim_set_name", "name")]


def _not_applicable(surface: Surface) -> list[str]:
    """Resources without the elements of their default strategies, for example after a change of the data standard."""
    defaults = all_defaults()
    resources = ((claim_name(each), each) for each in surface.resources)
    return sorted(name for name, each in resources if _actions_without_elements(each, defaults.get(name, {}), surface))


def _not_applicable_in_claim_sets(surface: Surface) -> list[str]:
    """Grants with overriding strategies, usually on a domain, that need elements not all of its resources have."""
    defaults = all_defaults()
    found = []
    # Others grant by default strategies alone, and compiling what a claim set grants takes long.
    with_overrides = ClaimSet.objects.filter(pk__in=OverridingStrategies.objects.values("grant__claim_set"))
    for claim_set in with_overrides:
        granted = granted_strategies(claim_set)
        for resource in surface.resources:
            name = claim_name(resource)
            own = {
                action: names
                for action, names in granted.get(name, {}).items()
                if names and names != defaults.get(name, {}).get(action)
            }
            lost = _actions_without_elements(resource, own, surface)
            found += [f"{claim_set}: {name} {action} by {', '.join(own[action])}" for action in lost]
    return found


def _actions_without_elements(resource: Resource, by_action: Mapping[str, Strategies], surface: Surface) -> list[str]:
    return [
        action
        for action, names in by_action.items()
        if not unknown_for(action, names, surface) and not is_applicable(resource, action, names, surface)
    ]


_UNSECURED = f"{UNSECURED} has no default strategies, so ordinary claim sets do not reach"


def _has_tables() -> bool:
    return ResourceClaim._meta.db_table in connections["default"].introspection.table_names()


_ALLOWED = "Name those that it may grant in MEADOWLARK_OIDC_ISSUERS, as claims.allowed.claimSets."
_CLAIM = "Give it a claim or another domain in the admin; load_claim_sets --bundled has one for each resource."
_MISSING_SET = "Their clients may do nothing until there are: load them, or choose others for the applications."
_SET = "Requests are answered 500: grant these resources by other strategies."
_STRATEGY = (
    "Requests are answered 500 until there are others, in the admin or by load_claim_sets. A custom view has to be in "
    "the database, as auth.… with a column document_uuid of type uuid that the server may read."
)


def _warning(number: str, text: str, names: list[str], hint: str = _CLAIM) -> list[CheckMessage]:
    return [Warning(f"{text}: {', '.join(names)}", hint=hint, id=f"security.{number}")] if names else []
