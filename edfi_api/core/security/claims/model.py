"""The one form of claims: the values that every outer form is translated to. See
meadowlark/docs/design/authorization.md#claim-sets-and-actions.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Strategies = tuple[str, ...]
# Strategies by action; in a grant, an empty tuple means the defaults.
ByAction = dict[str, Strategies]
# What a claim set grants: by name of the claim, then by action.
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
