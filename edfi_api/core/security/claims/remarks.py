"""Warnings for operators who create a client: access of its claim set that is wider than it looks."""

from collections.abc import Iterator

from edfi_api.common.conf import api_settings
from edfi_api.core.security.claim_names import DOMAINS, SERVICES, VALIDATION, Action
from edfi_api.core.security.claims.compile import granted_strategies
from edfi_api.core.security.models import Application, ClaimSet
from edfi_api.core.security.policies.reach import REACHES
from edfi_api.core.security.policies.table import NO_FURTHER_AUTHORIZATION_REQUIRED

_OPEN = (NO_FURTHER_AUTHORIZATION_REQUIRED,)
_RESOURCES_NAMED = 5


def remarks(application: Application) -> list[str]:
    """Sentences about the application's claim set; empty if there is nothing to warn of."""
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
