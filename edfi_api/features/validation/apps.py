"""The Django app of validation: its migrations and models."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ValidationConfig(AppConfig):
    """Its tables are in the database of every data store."""

    name = "edfi_api.features.validation"
    label = "validation"
    verbose_name = "Validation"

    def ready(self) -> None:
        from edfi_api.features.validation.login import grant_reading  # noqa: PLC0415  Its imports need the app registry.

        post_migrate.connect(grant_reading, sender=self)
