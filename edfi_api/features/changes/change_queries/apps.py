"""The Django app of change queries."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ChangeQueriesConfig(AppConfig):
    """Connects the receiver that fills the key fields."""

    name = "edfi_api.features.changes.change_queries"
    label = "change_queries"
    verbose_name = "Change queries"

    def ready(self) -> None:
        from edfi_api.features.changes.change_queries.key_fields import fill_key_fields  # noqa: PLC0415  Django fills its registry first

        post_migrate.connect(fill_key_fields, sender=self)
