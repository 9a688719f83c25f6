"""The authorization of a request: what the client's claim set allows for an action on a resource.

The views call `authorize` where the order of checks requires it
(meadowlark/docs/reference/contract.md#order-of-checks).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.storage.row_policy import MayRead, RowPolicy

from .actions import Action
from .exceptions import UnknownStrategies
from .readable import readable_rows
from .row_policies import row_policy, unusable_strategies
from .tokens import AuthenticatedClient
from .upserts import upsert_actions, upsert_policy

# By the views' names of their actions. See meadowlark/docs/design/authorization.md#claim-sets-and-actions.
ACTIONS: Mapping[str, Action] = {
    "list": Action.READ,
    "retrieve": Action.READ,
    "partitions": Action.READ,
    "create": Action.CREATE,
    "update": Action.UPDATE,
    "destroy": Action.DELETE,
    "deletes": Action.READ_CHANGES,
    "key_changes": Action.READ_CHANGES,
}


@dataclass(frozen=True, slots=True)
class Authorization:
    """What a request may do: on which documents it may act, all of them without a policy, and which other documents its
    errors may name."""

    policy: RowPolicy | None
    may_read: MayRead


def authorize(
    client: AuthenticatedClient, resource: Resource, action: Action, surface: Surface, using: str
) -> Authorization:
    """Raises what `row_policy` does: the claim set does not grant the action, or is misconfigured."""
    if action is Action.CREATE:
        policy = upsert_policy(client, resource, surface, using)
    else:
        policy = row_policy(client, resource, action, surface, using)
    return Authorization(policy, partial(readable_rows, client, surface, using))


def refusal_behind(
    client: AuthenticatedClient, resource: Resource, action: Action, surface: Surface, using: str
) -> UnknownStrategies | None:
    """The refusal behind a ProgrammingError that the SQL of a policy raised: a custom view that no longer exists. None
    if the error has another cause."""
    for each in upsert_actions() if action is Action.CREATE else (action,):
        if unusable := unusable_strategies(client, resource, each, surface, using):
            return UnknownStrategies(unusable)
    return None
