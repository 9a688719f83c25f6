"""The actions that a claim set can grant on a resource. See
meadowlark/docs/authorization.md#claim-sets-and-actions."""

from collections.abc import Container

from django.db.models import TextChoices


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
