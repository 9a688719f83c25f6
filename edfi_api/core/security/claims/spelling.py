"""Names of resource claims as the ODS/API spells them → the names that they have here.

Most resource claims of a published `EdFi_Security` have no project: `http://ed-fi.org/identity/claims/student`. The
ODS/API looks for the name with the project and for the one without, so here both mean the same claim.
"""

from collections import defaultdict
from collections.abc import Iterable

from edfi_api.core.security.claim_names import DOMAINS, SERVICES, claim_name, claim_of, short_name
from edfi_api.core.security.claims.model import ByAction, Claims, ClaimSetValue, Grants, ResourceClaimValue
from edfi_api.model.surface.resource import Surface


class ClaimNames:
    """The names of the claims of a surface, and of `others` with a project.

    A resource that the surface does not have, such as one of another data standard, is found among the others.
    """

    def __init__(self, surface: Surface, others: Iterable[str] = ()) -> None:
        core = surface.core_project.endpoint
        core_first = sorted(surface.resources, key=lambda resource: resource.project_endpoint != core)
        names = [claim_name(resource) for resource in core_first]
        self._in_full = {name.lower(): name for name in names}
        self._of_served = _by_short_name(names)
        self._of_others = _by_short_name(name for name in others if not name.startswith((DOMAINS, SERVICES)))

    def all_of(self, spelt: str) -> list[str]:
        """The claims that a name or a URI stands for: one, or those of all projects with a resource of this name."""
        name = claim_of(spelt)
        if "/" in name:
            return [self._in_full.get(name.lower(), name)]
        key = name.lower()
        return self._of_served.get(key) or self._of_others.get(key) or [name]

    def one_of(self, spelt: str) -> str:
        """The claim that a name or a URI stands for; of several projects that of the first."""
        return self.all_of(spelt)[0]


def spelt_in_full(claims: Claims, names: ClaimNames) -> Claims:
    """Return the same claims by their names here.

    Where a claim is named with its project and without, the first counts where both say something, and what only the
    second says is added.
    """
    resource_claims: dict[str, ResourceClaimValue] = {}
    for spelt in _vaguest_first(claims.resource_claims):
        value = claims.resource_claims[spelt]
        parent = None if value.parent is None else names.one_of(value.parent)
        for name in names.all_of(spelt):
            resource_claims[name] = _united(resource_claims.get(name), parent, value.defaults)
    claim_sets = {
        name: ClaimSetValue(each.description, _grants_in_full(each.grants, names))
        for name, each in claims.claim_sets.items()
    }
    # In the order of the file, which the printed changes have too.
    order = dict.fromkeys(name for spelt in claims.resource_claims for name in names.all_of(spelt))
    return Claims({name: resource_claims[name] for name in order}, claim_sets)


def _grants_in_full(grants: Grants, names: ClaimNames) -> Grants:
    found: Grants = {}
    for spelt in _vaguest_first(grants):
        for name in names.all_of(spelt):
            found[name] = found.get(name, {}) | grants[spelt]
    return {name: found[name] for spelt in grants for name in names.all_of(spelt)}


def _united(vaguer: ResourceClaimValue | None, parent: str | None, defaults: ByAction | None) -> ResourceClaimValue:
    if vaguer is None:
        return ResourceClaimValue(parent, defaults)
    if defaults is None or vaguer.defaults is None:
        return ResourceClaimValue(parent, vaguer.defaults if defaults is None else defaults)
    return ResourceClaimValue(parent, vaguer.defaults | defaults)


def _vaguest_first(spelt: Iterable[str]) -> list[str]:
    """Names without a project before those with one."""
    return sorted(spelt, key=lambda name: "/" in claim_of(name))


def _by_short_name(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found[short_name(name).lower()].append(name)
    return dict(found)
