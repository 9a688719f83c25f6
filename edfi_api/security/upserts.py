"""The policy of a POST, which creates a document or replaces one.

As in Ed-Fi's own server, the strategies of Create apply in both cases. With `UPSERT_ASKS_UPDATE` those of Update apply
if the document exists. Only the writing statement finds out which case it is, so the policy has conditions for both.
"""

from dataclasses import dataclass

from edfi_api.conf import api_settings
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.storage.driver.sql import Sql
from edfi_api.storage.row_policy import Clause, Explanation, Predicate, RowPolicy, SetConditions

from .actions import Action
from .exceptions import UNAUTHORIZABLE
from .row_policies import row_policy
from .tokens import AuthenticatedClient


def upsert_actions() -> tuple[Action, ...]:
    """The actions whose strategies apply to a POST."""
    return (Action.CREATE, Action.UPDATE) if api_settings.UPSERT_ASKS_UPDATE else (Action.CREATE,)


def upsert_policy(client: AuthenticatedClient, resource: Resource, surface: Surface, using: str) -> RowPolicy | None:
    """The policy of a POST; None if the claim set sets no condition on rows. Raises what `row_policy` does."""
    if not api_settings.UPSERT_ASKS_UPDATE:
        return row_policy(client, resource, Action.CREATE, surface, using)
    create, update = (
        _policy_or_refusal(client, resource, action, surface, using) for action in (Action.CREATE, Action.UPDATE)
    )
    if isinstance(create, _Refusal) and isinstance(update, _Refusal):
        raise create.reason
    return None if create is None and update is None else UpsertPolicy(create or _UNRESTRICTED, update or _UNRESTRICTED)


def _policy_or_refusal(
    client: AuthenticatedClient, resource: Resource, action: Action, surface: Surface, using: str
) -> RowPolicy | None:
    try:
        return row_policy(client, resource, action, surface, using)
    except UNAUTHORIZABLE as reason:
        return _Refusal(reason)


class _Unrestricted:
    """Allows everything."""

    using = with_check = with_check_new = Sql("true")

    def for_sets(self) -> SetConditions:
        return SetConditions(self.using, self.with_check, self.with_check_new)

    def predicate(self) -> Predicate:
        return Predicate(self.using, Sql("d.resource_type_id = %(type)s"))

    def explanation(self, clause: Clause) -> Explanation:
        return Explanation((), lambda results, unresolved: None)


_UNRESTRICTED = _Unrestricted()


class _Refusal(_Unrestricted):
    """Denies everything, for one reason."""

    using = with_check = with_check_new = Sql("false")

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
