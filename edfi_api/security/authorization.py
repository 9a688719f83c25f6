"""The authorization of a request: what the client's claim set allows for an action on a resource, and what the client
may read besides the requested document.

The views call `authorize` where the order of checks requires it
(meadowlark/docs/reference/contract.md#order-of-checks). Lists of related documents, and errors that name other
documents, such as referrers, are limited to what is readable.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from edfi_api.model.surface.resource import Resource, ResourceName, Surface
from edfi_api.storage.driver.execution import execute
from edfi_api.storage.driver.sql import Sql
from edfi_api.storage.row_policy import MayRead, Predicate, RowPolicy

from .claims.model import Action
from .exceptions import UNAUTHORIZABLE, NoNamespacePrefixes, UnknownStrategies
from .row_policies import row_policy, unusable_strategies, upsert_actions, upsert_policy
from .tokens import AuthenticatedClient

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


_READABLE = "SELECT d.id FROM document d WHERE d.id = ANY (%(rows)s::bigint[]) AND {is_allowed}"


def readable_resources(
    client: AuthenticatedClient, resources: Iterable[Resource], surface: Surface, using: str
) -> Iterator[tuple[Resource, Predicate | None]]:
    """The resources of which the client may read documents, each with the condition on them; None if there is none.

    Others are left out: the reason is reported when the resource itself is requested.
    """
    for resource in resources:
        try:
            policy = row_policy(client, resource, Action.READ, surface, using)
            yield resource, None if policy is None else policy.predicate()
        except (*UNAUTHORIZABLE, NoNamespacePrefixes):
            continue


def readable_rows(
    client: AuthenticatedClient, surface: Surface, using: str, documents: Mapping[int, ResourceName]
) -> set[int]:
    """The ids of the rows that the client may read; none of resources that are not served."""
    names = set(documents.values())
    served = [surface.by_name[name] for name in names if name in surface.by_name]
    found: set[int] = set()
    for resource, predicate in readable_resources(client, served, surface, using):
        rows = [row for row, name in documents.items() if name == resource.name]
        found |= _allowed(rows, predicate, using)
    return found


def _allowed(rows: list[int], predicate: Predicate | None, using: str) -> set[int]:
    if predicate is None:
        return set(rows)
    statement = Sql(_READABLE, {"rows": rows}).fill(is_allowed=predicate.for_one_row)
    return {row for (row,) in execute(statement, using)}
