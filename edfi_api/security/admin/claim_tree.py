"""The tree of resource claims, with strategies and grants as lines for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, F, QuerySet, Window
from django.db.models.functions import RowNumber

from ..claims.compile import all_inherited_defaults
from ..claims.model import ByAction, Strategies, actions_by_value
from ..models import Grant, OverridingStrategies, ResourceClaim

# On a server with tenants there may be thousands of claim sets.
MOST_GRANTS = 25


@dataclass(slots=True)
class Node:
    """A resource claim. `defaults` and `grants` are lines; `more` grants are not among these."""

    pk: int
    name: str
    defaults: list[str]
    grants: list[str] = field(default_factory=list)
    more: int = 0
    children: list["Node"] = field(default_factory=list)


def roots(grants: QuerySet[Grant]) -> list[Node]:
    """The whole tree with these grants, in five queries."""
    defaults = all_inherited_defaults()
    rows = list(ResourceClaim.objects.order_by("name").values_list("pk", "name", "parent_id"))
    nodes = {pk: Node(pk, name, _lines_of_defaults(name, defaults.get(name, {}))) for pk, name, _ in rows}
    _add_grants(nodes, grants)
    for pk, _, parent in rows:
        if parent in nodes:
            nodes[parent].children.append(nodes[pk])
    return [nodes[pk] for pk, _, parent in rows if parent not in nodes]


def _add_grants(nodes: Mapping[int, Node], grants: QuerySet[Grant]) -> None:
    numbered = grants.annotate(
        number=Window(RowNumber(), partition_by="resource_claim", order_by=[F("claim_set__name"), F("pk")]),
        total=Window(Count("pk"), partition_by="resource_claim"),
    )
    shown = list(
        numbered.filter(number__lte=MOST_GRANTS)
        .order_by("number")
        .values_list("pk", "resource_claim_id", "claim_set__name", "actions", "total")
    )
    overrides = _overrides([pk for pk, *_ in shown])
    for pk, claim, name, actions, total in shown:
        nodes[claim].grants.append(f"{name}: {_granted(actions, overrides.get(pk, {}))}")
        nodes[claim].more = max(0, total - MOST_GRANTS)


def _overrides(grants: Sequence[int]) -> dict[int, ByAction]:
    found: dict[int, ByAction] = {}
    rows = OverridingStrategies.objects.filter(grant__in=grants)
    for grant, action, strategies in rows.values_list("grant_id", "action", "strategies"):
        found.setdefault(grant, {})[action] = tuple(strategies)
    return found


def _granted(actions: Sequence[str], overrides: ByAction) -> str:
    """`Create, Update; Read by NamespaceBased`"""
    alike = actions_by_value({action: overrides.get(action, ()) for action in actions})
    return "; ".join(f"{names} by {', '.join(by)}" if by else names for names, by in alike)


def _lines_of_defaults(claim: str, inherited: Mapping[str, tuple[Strategies, str]]) -> list[str]:
    """`Create, Read: NamespaceBased`, with the claim that they are inherited from."""
    return [
        f"{actions}: {', '.join(strategies)}" + (f" (from {origin})" if origin != claim else "")
        for actions, (strategies, origin) in actions_by_value(inherited)
    ]
