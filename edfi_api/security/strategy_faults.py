"""Claims → what in them names a strategy that there is not, or not for that action.

Told where claims are written, for whoever asks for a document by such a strategy is only told that the operator has
made a mistake.
"""

from collections.abc import Iterable, Iterator

from .actions import Action
from .authorization import unknown_strategies
from .claims_file import ByAction, Claims


def unknown_for(action: str, names: Iterable[str]) -> tuple[str, ...]:
    """Of these strategies those that cannot authorize the action."""
    return unknown_strategies(names, is_for_changes=action == Action.READ_CHANGES)


def unknown_in(claims: Claims) -> list[str]:
    """`ReadChanges of domains/people by Foo`, in the order of the claims."""
    defaults = ((name, claim.defaults or {}) for name, claim in claims.resource_claims.items())
    grants = (
        (f"{claim} in {name}", by_action)
        for name, claim_set in claims.claim_sets.items()
        for claim, by_action in claim_set.grants.items()
    )
    return [line for place, by_action in (*defaults, *grants) for line in _lines(place, by_action)]


def _lines(place: str, by_action: ByAction) -> Iterator[str]:
    for action, names in by_action.items():
        if unknown := unknown_for(action, names):
            yield f"{action} of {place} by {', '.join(unknown)}"
