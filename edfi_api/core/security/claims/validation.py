"""Validates claims: finds unknown strategies in them, those that do not fit the action or the resource, and access that
is wider than it looks.

Unknown strategies are reported when claims are written: the response that a client gets later only states a
configuration error. Operators who create a client are warned of wide access.
"""

from collections.abc import Iterable, Iterator

from django.db import DEFAULT_DB_ALIAS

from edfi_api.common.conf import api_settings
from edfi_api.core.security.claim_names import DOMAINS, SERVICES, VALIDATION, Action, claim_name
from edfi_api.core.security.claims.compile import granted_strategies
from edfi_api.core.security.claims.model import ByAction, Claims
from edfi_api.core.security.exceptions import StrategyNotApplicable
from edfi_api.core.security.models import Application, ClaimSet
from edfi_api.core.security.strategies.combined import CombinedStrategies
from edfi_api.core.security.strategies.reach import REACHES
from edfi_api.core.security.strategies.strategy import Subject
from edfi_api.core.security.strategies.table import NO_FURTHER_AUTHORIZATION_REQUIRED, STRATEGIES, unknown_strategies
from edfi_api.core.security.strategies.views import is_custom_view, view_name
from edfi_api.model.surface.resource import Resource, Surface


def unknown_for(action: str, names: Iterable[str], surface: Surface) -> tuple[str, ...]:
    """Return the strategies that cannot authorize the action."""
    for_changes = action == Action.READ_CHANGES
    return unknown_strategies(names, surface, for_changes=for_changes, using=DEFAULT_DB_ALIAS)


def unknown_in(claims: Claims, surface: Surface) -> list[str]:
    """`ReadChanges of domains/people by Foo`, in the order of the claims."""
    return [
        f"{action} of {place} by {', '.join(unknown)}"
        for place, _, by_action in _strategies_in(claims)
        for action, names in by_action.items()
        if (unknown := unknown_for(action, names, surface))
    ]


def advice_on_views(unknown: Iterable[str]) -> str:
    """Return the text that says what to do about the custom views among unknown strategies; empty if there are none."""
    views = sorted({view_name(name) for name in unknown if name not in STRATEGIES and is_custom_view(name)})
    if not views:
        return ""
    return (
        f" A custom view ({', '.join(views)}) has to be in the database, readable by the server, with a column "
        "document_uuid of type uuid, and its name has to begin with a resource."
    )


def all_unknown_in(claims: Claims, surface: Surface) -> set[str]:
    """The unknown strategies themselves."""
    return {
        name
        for _, _, by_action in _strategies_in(claims)
        for action, names in by_action.items()
        for name in unknown_for(action, names, surface)
    }


def views_without_a_way(claims: Claims, surface: Surface) -> list[str]:
    """`Read of ed-fi/school by StudentWithPets`: custom views for resources that do not refer to the view's basis."""
    resources = {claim_name(resource): resource for resource in surface.resources}
    return [
        f"{action} of {place} by {name}"
        for place, claim, by_action in _strategies_in(claims)
        if claim in resources
        for action, names in by_action.items()
        for name in names
        if name not in STRATEGIES and not is_applicable(resources[claim], action, (name,), surface)
    ]


def is_applicable(resource: Resource, action: str, names: Iterable[str], surface: Surface) -> bool:
    """Return whether the resource has the elements that these known strategies need."""
    try:
        CombinedStrategies(names, Subject(resource, surface, is_for_changes=action == Action.READ_CHANGES))
    except StrategyNotApplicable:
        return False
    return True


def _strategies_in(claims: Claims) -> Iterator[tuple[str, str, ByAction]]:
    """The place for messages, the claim's name, and the strategies by action."""
    for name, resource_claim in claims.resource_claims.items():
        yield name, name, resource_claim.defaults or {}
    for name, claim_set in claims.claim_sets.items():
        for claim, by_action in claim_set.grants.items():
            yield f"{claim} in {name}", claim, by_action


_OPEN = (NO_FURTHER_AUTHORIZATION_REQUIRED,)
_RESOURCES_NAMED = 5


def warnings_about(application: Application) -> list[str]:
    """Return warnings about the application's claim set; empty if there is nothing to warn of."""
    claim_set = application.claim_set
    if claim_set is None:
        name = application.claim_set_name
        return [f"There is no claim set {name}: its clients may do nothing until there is one."] if name else []
    granted = granted_strategies(claim_set)
    used = {name for by_action in granted.values() for names in by_action.values() for name in names}
    found = [_overwriting(claim_set, overwritten)] if (overwritten := sorted(_overwritten(granted))) else []
    if application.education_organization_ids and used and used.isdisjoint(REACHES):
        found.insert(0, _unrestricted(claim_set, filters_rows=bool(used - set(_OPEN))))
    return found


def _unrestricted(claim_set: ClaimSet, *, filters_rows: bool) -> str:
    if filters_rows:
        return (
            f"No strategy of the claim set {claim_set} looks at education organizations: those of the application "
            "restrict nothing."
        )
    return (
        f"The claim set {claim_set} filters no documents: its clients read and write those of all education "
        "organizations, whichever the application has. EdFiSandboxDefaults grants as much by the default strategies."
    )


def _overwriting(claim_set: ClaimSet, names: list[str]) -> str:
    others = len(names) - _RESOURCES_NAMED
    resources = ", ".join(names[:_RESOURCES_NAMED]) + (f" and {others} others" if others > 0 else "")
    return (
        f"Clients with the claim set {claim_set} may overwrite every document of {resources}, since a POST on a "
        "document that exists is authorized as Create. MEADOWLARK_UPSERT_ASKS_UPDATE authorizes it as Update."
    )


def _overwritten(granted: dict[str, dict[str, tuple[str, ...]]]) -> Iterator[str]:
    """Resources with unrestricted Create and restricted Update, where a POST can overwrite any document."""
    if api_settings.UPSERT_ASKS_UPDATE:
        return
    for name, by_action in granted.items():
        is_resource = not name.startswith((DOMAINS, SERVICES, VALIDATION))
        if is_resource and by_action.get(Action.CREATE) == _OPEN != by_action.get(Action.UPDATE):
            yield name
