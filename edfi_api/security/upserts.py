"""The guard of a POST, which creates a document or replaces one.

As in Ed-Fi's own server, the strategies of Create apply in both cases. With `UPSERT_ASKS_UPDATE` those of Update apply
if the document exists. Only the writing statement finds out which case it is, so the guard has conditions for both.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from edfi_api.conf import api_settings
from edfi_api.model.surface.resource import JsonPath, Resource, Surface
from edfi_api.storage.guards import NEW, Condition, Guard, Values

from .actions import Action
from .authorization import guard
from .exceptions import UNAUTHORIZABLE
from .tokens import AuthenticatedClient


def upsert_guard(client: AuthenticatedClient, resource: Resource, surface: Surface) -> Guard | None:
    """The row conditions of a POST; None if the claim set sets none. Raises what `authorization.guard` does."""
    if not api_settings.UPSERT_ASKS_UPDATE:
        return guard(client, resource, Action.CREATE, surface)
    create, update = (_guard_or_refusal(client, resource, action, surface) for action in (Action.CREATE, Action.UPDATE))
    if isinstance(create, _Refusal) and isinstance(update, _Refusal):
        raise create.reason
    return None if create is None and update is None else UpsertGuard(create or _OPEN, update or _OPEN)


def _guard_or_refusal(
    client: AuthenticatedClient, resource: Resource, action: Action, surface: Surface
) -> Guard | None:
    try:
        return guard(client, resource, action, surface)
    except UNAUTHORIZABLE as reason:
        return _Refusal(reason)


class _NoDemands:
    """Allows everything."""

    parameters: Mapping[str, Any] = {}

    def sql(self, values: Values) -> str:
        return "true"

    def questions(self, values: Values) -> list[str]:
        return []

    def refusal(self, answers: Sequence[bool], values: Values, unresolved: AbstractSet[JsonPath]) -> Exception | None:
        return None

    def condition(self) -> Condition:
        return Condition("true", "d.resource_type_id = %(type)s", {})

    def fault(self, error: Exception) -> Exception | None:
        return None


_OPEN = _NoDemands()


@dataclass(frozen=True)
class _Refusal(_NoDemands):
    """Denies everything, for one reason."""

    reason: Exception

    def sql(self, values: Values) -> str:
        return "false"

    def refusal(self, answers: Sequence[bool], values: Values, unresolved: AbstractSet[JsonPath]) -> Exception | None:
        return self.reason

    def condition(self) -> Condition:
        raise self.reason


@dataclass(frozen=True)
class UpsertGuard:
    """`create` applies to a new document, `update` to an existing one."""

    create: Guard
    update: Guard

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {**self.create.parameters, **self.update.parameters}

    def sql(self, values: Values) -> str:
        return self._of(values).sql(values)

    def questions(self, values: Values) -> list[str]:
        return self._of(values).questions(values)

    def refusal(self, answers: Sequence[bool], values: Values, unresolved: AbstractSet[JsonPath]) -> Exception | None:
        return self._of(values).refusal(answers, values, unresolved)

    def condition(self) -> Condition:
        return self.update.condition()

    def fault(self, error: Exception) -> Exception | None:
        return self.create.fault(error) or self.update.fault(error)

    def _of(self, values: Values) -> Guard:
        return self.create if values is NEW else self.update
