"""The actions that a claim set can grant on a resource. See
meadowlark/docs/design/authorization.md#claim-sets-and-actions."""

from collections.abc import Container, Hashable, Mapping
from typing import TypeVar

from django.db.models import TextChoices

Value = TypeVar("Value", bound=Hashable)


class Action(TextChoices):
    """Ed-Fi's actions, in the order in which token introspection lists them.

    POST is authorized as Create, also when it updates an existing document, unless `UPSERT_ASKS_UPDATE` is on.
    """

    CREATE = "Create", "Create"
    READ = "Read", "Read"
    UPDATE = "Update", "Update"
    DELETE = "Delete", "Delete"
    READ_CHANGES = "ReadChanges", "ReadChanges"


_BY_LOWER_CASE = {action.value.lower(): action.value for action in Action}


def action_named(name: str) -> str | None:
    """The action of this name, in any case."""
    return _BY_LOWER_CASE.get(name.lower())


def actions_in_order(actions: Container[str]) -> list[str]:
    """Those of the actions, in the order of `Action`."""
    return [action.value for action in Action if action in actions]


def actions_by_value(by_action: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """Each value with its actions: `Create, Read`."""
    found: dict[Value, list[str]] = {}
    for action in actions_in_order(by_action):
        found.setdefault(by_action[action], []).append(action)
    return [(", ".join(actions), value) for value, actions in found.items()]
