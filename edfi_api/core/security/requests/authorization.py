"""The authorization of a request: what the client's claim set allows for an action on a resource, as a row policy of
its combined strategies, and what the client may read besides the requested document.

`authorize` is called where the order of checks requires it
(meadowlark/docs/reference/contract.md#order-of-checks). Lists of related documents, and errors that name other
documents, such as referrers, are limited to what is readable.

A POST creates a document or replaces one. As in Ed-Fi's own server, the strategies of Create apply in both cases. With
`UPSERT_ASKS_UPDATE` those of Update apply if the document exists. Only the writing statement finds out which case it
is, so the policy has conditions for both.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from edfi_api.common.conf import api_settings
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.claim_names import Action
from edfi_api.core.security.claims.compile import strategies
from edfi_api.core.security.exceptions import UNAUTHORIZABLE, UNREADABLE, UnknownStrategies
from edfi_api.core.security.strategies.combined import ClientPolicy, CombinedStrategies
from edfi_api.core.security.strategies.strategy import Subject
from edfi_api.core.security.strategies.table import NO_FURTHER_AUTHORIZATION_REQUIRED, unknown_strategies
from edfi_api.core.storage.database_state import database_state
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.row_policy import Clause, Explanation, Predicate, RowPolicy, SetConditions
from edfi_api.model.surface.resource import Resource, ResourceName, Surface

# Maps the views' names of their actions. See meadowlark/docs/design/authorization.md#claim-sets-and-actions.
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
    """The rights of a request: on which documents it may act, all of them without a policy, and what else its client
    may read."""

    policy: RowPolicy | None
    client: AuthenticatedClient
    resource: Resource
    surface: Surface
    using: str

    def may_read(self, documents: Mapping[int, ResourceName]) -> AbstractSet[int]:
        """Return which documents the errors of the request may name; see `storage.row_policy.MayRead`."""
        return readable_rows(self.client, self.surface, self.using, documents)

    def read_policy(self) -> RowPolicy | None:
        """The documents of the resource that the client may read. Raises what `row_policy` does."""
        return row_policy(self.client, self.resource, Action.READ, self.surface, self.using)


def authorize(
    client: AuthenticatedClient, resource: Resource, action: Action, surface: Surface, using: str
) -> Authorization:
    """Raises what `row_policy` does: the claim set does not grant the action, or is misconfigured."""
    if action is Action.CREATE:
        policy = upsert_policy(client, resource, surface, using)
    else:
        policy = row_policy(client, resource, action, surface, using)
    return Authorization(policy, client, resource, surface, using)


def refusal_behind(
    client: AuthenticatedClient, resource: Resource, action: Action, surface: Surface, using: str
) -> UnknownStrategies | None:
    """The refusal that explains a ProgrammingError that the SQL of a policy raised: a custom view that no longer
    exists. None if the error has another cause."""
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
        except UNREADABLE:
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


def row_policy(
    client: AuthenticatedClient,
    resource: Resource,
    action: Action,
    surface: Surface,
    using: str,
    *,
    further: tuple[str, ...] = (),
) -> RowPolicy | None:
    """The policy of the client's claim set; None if it sets no condition on rows. `further` names strategies that have
    to allow as well.

    Raises what `strategies` raises, UnknownStrategies and StrategyNotApplicable.
    """
    names = (*strategies(client, resource, action), *further)
    if names == (NO_FURTHER_AUTHORIZATION_REQUIRED,):
        return None
    combined = _combined(resource, names, action == Action.READ_CHANGES, surface, using)
    return ClientPolicy(combined, client, using) if combined.strategies else None


def unusable_strategies(
    client: AuthenticatedClient, resource: Resource, action: Action, surface: Surface, using: str
) -> tuple[str, ...]:
    """The strategies that cannot be used: custom views that were dropped after their policy was made. Empty if the
    action is not granted."""
    subject = Subject(resource, surface, is_for_changes=action == Action.READ_CHANGES)
    try:
        return _unknown(strategies(client, resource, action), subject, using)
    except UNAUTHORIZABLE:
        return ()


class _Combined:
    """The combined strategies of one database, by resource, names, and whether they are for changes."""

    def __init__(self, using: str) -> None:
        self.by_key: dict[tuple[ResourceName, tuple[str, ...], bool], CombinedStrategies] = {}


def _combined(
    resource: Resource, names: tuple[str, ...], is_for_changes: bool, surface: Surface, using: str
) -> CombinedStrategies:
    kept = database_state(using).value(_Combined).by_key
    key = (resource.name, names, is_for_changes)
    found = kept.get(key)
    # Where there are several surfaces, they have different resources of one name.
    if found is None or found.subject.resource is not resource:
        subject = Subject(resource, surface, is_for_changes)
        if unknown := _unknown(names, subject, using):
            raise UnknownStrategies(unknown)
        found = kept[key] = CombinedStrategies(names, subject)
    return found


def _unknown(names: Iterable[str], subject: Subject, using: str) -> tuple[str, ...]:
    return unknown_strategies(names, subject.surface, for_changes=subject.is_for_changes, using=using)


def upsert_actions() -> tuple[Action, ...]:
    """The actions whose strategies apply to a POST."""
    return (Action.CREATE, Action.UPDATE) if api_settings.UPSERT_ASKS_UPDATE else (Action.CREATE,)


def upsert_policy(
    client: AuthenticatedClient, resource: Resource, surface: Surface, using: str, *, further: tuple[str, ...] = ()
) -> RowPolicy | None:
    """The policy of a POST; None without conditions on rows. Takes and raises what `row_policy` does."""
    if not api_settings.UPSERT_ASKS_UPDATE:
        return row_policy(client, resource, Action.CREATE, surface, using, further=further)
    create, update = (
        _policy_or_refusal(client, resource, action, surface, using, further=further)
        for action in (Action.CREATE, Action.UPDATE)
    )
    if isinstance(create, _Refusal) and isinstance(update, _Refusal):
        raise create.reason
    return None if create is None and update is None else UpsertPolicy(create or _UNRESTRICTED, update or _UNRESTRICTED)


def _policy_or_refusal(
    client: AuthenticatedClient,
    resource: Resource,
    action: Action,
    surface: Surface,
    using: str,
    *,
    further: tuple[str, ...],
) -> RowPolicy | None:
    try:
        return row_policy(client, resource, action, surface, using, further=further)
    except UNAUTHORIZABLE as reason:
        return _Refusal(reason)


class _Unrestricted:
    """Allows everything."""

    using = using_on_versions = with_check = with_check_new = Sql("true")

    def for_sets(self) -> SetConditions:
        return SetConditions(self.using, self.with_check, self.with_check_new)

    def predicate(self) -> Predicate:
        return Predicate(self.using, Sql("d.resource_type_id = %(type)s"))

    def explanation(self, clause: Clause) -> Explanation:
        return Explanation((), lambda results, unresolved: None)


_UNRESTRICTED = _Unrestricted()


class _Refusal(_Unrestricted):
    """Denies everything, for one reason."""

    using = using_on_versions = with_check = with_check_new = Sql("false")

    def __init__(self, reason: Exception) -> None:
        self.reason = reason

    def predicate(self) -> Predicate:
        raise self.reason

    def explanation(self, clause: Clause) -> Explanation:
        return Explanation((), lambda results, unresolved: self.reason)


@dataclass(frozen=True)
class UpsertPolicy:
    """`create` applies to a new document, `update` to an existing one."""

    create: RowPolicy
    update: RowPolicy

    @property
    def using(self) -> Sql:
        return self.update.using

    @property
    def using_on_versions(self) -> Sql:
        return self.update.using_on_versions

    @property
    def with_check(self) -> Sql:
        return self.update.with_check

    @property
    def with_check_new(self) -> Sql:
        return self.create.with_check_new

    def for_sets(self) -> SetConditions | None:
        create, update = self.create.for_sets(), self.update.for_sets()
        if create is None or update is None:
            return None
        return SetConditions(update.using, update.with_check, create.with_check_new)

    def predicate(self) -> Predicate:
        return self.update.predicate()

    def explanation(self, clause: Clause) -> Explanation:
        return (self.create if clause is Clause.WITH_CHECK_NEW else self.update).explanation(clause)
