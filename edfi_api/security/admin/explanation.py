"""What a claim set lets a client do, and why, as rows of a page in the admin."""

from dataclasses import dataclass

from ..claims.compile import Granted, granted_actions
from ..claims.model import DOMAINS, actions_by_value
from ..models import ClaimSet


@dataclass(frozen=True, slots=True)
class Line:
    """The actions of a resource or service that are granted alike. `granted` names the claim of the grant, and that of
    the strategies."""

    claim: str
    actions: str
    granted: Granted


def lines(claim_set: ClaimSet) -> list[Line]:
    """By name of the resource or service; without domains, which only pass grants on."""
    granted = granted_actions(claim_set)
    return [
        Line(name, actions, why)
        for name in sorted(granted)
        if not name.startswith(DOMAINS)
        for actions, why in actions_by_value(granted[name])
    ]
