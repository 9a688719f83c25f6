"""The actions that a claim set can grant on a resource. See
meadowlark/docs/authorization.md#claim-sets-and-actions."""

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
