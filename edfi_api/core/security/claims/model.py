"""The one form of claims: the values that every outer form is translated to. See
meadowlark/docs/design/authorization.md#claim-sets-and-actions.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from edfi_api.core.security.claim_names import DOMAINS, SERVICES, claim_name, claim_of, short_name
from edfi_api.model.surface.resource import Surface

Strategies = tuple[str, ...]
# Strategies by action; in a grant, an empty tuple means the defaults.
ByAction = dict[str, Strategies]
# The grants of a claim set: by name of the claim, then by action.
Grants = dict[str, ByAction]


@dataclass(frozen=True)
class ResourceClaimValue:
    """A resource claim with its parent; `defaults` of None leave the stored ones unchanged."""

    parent: str | None
    defaults: ByAction | None


@dataclass(frozen=True)
class ClaimSetValue:
    """The grants of a claim set."""

    description: str
    grants: Grants


@dataclass(frozen=True)
class Claims:
    """Resource claims and claim sets, both by name."""

    resource_claims: dict[str, ResourceClaimValue] = field(default_factory=dict)
    claim_sets: dict[str, ClaimSetValue] = field(default_factory=dict)

    def and_also(self, others: "Claims") -> "Claims":
        """The union of both; `others` take precedence."""
        return Claims(self.resource_claims | others.resource_claims, self.claim_sets | others.claim_sets)


def lineage(claims: Mapping[str, ResourceClaimValue], name: str) -> list[str]:
    """The claim itself, then its ancestors, the nearest first."""
    found = [name]
    while (parent := claims[found[-1]].parent) is not None:
        found.append(parent)
    return found


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, in order."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


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
    for spelt in _most_general_first(claims.resource_claims):
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
    for spelt in _most_general_first(grants):
        for name in names.all_of(spelt):
            found[name] = found.get(name, {}) | grants[spelt]
    return {name: found[name] for spelt in grants for name in names.all_of(spelt)}


def _united(
    more_general: ResourceClaimValue | None, parent: str | None, defaults: ByAction | None
) -> ResourceClaimValue:
    if more_general is None:
        return ResourceClaimValue(parent, defaults)
    if defaults is None or more_general.defaults is None:
        return ResourceClaimValue(parent, more_general.defaults if defaults is None else defaults)
    return ResourceClaimValue(parent, more_general.defaults | defaults)


def _most_general_first(spelt: Iterable[str]) -> list[str]:
    """Names without a project before those with one."""
    return sorted(spelt, key=lambda name: "/" in claim_of(name))


def _by_short_name(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found[short_name(name).lower()].append(name)
    return dict(found)
