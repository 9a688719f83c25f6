"""The Django app of validation: its migrations and models."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from edfi_api.common.contributions import Contributor


class ValidationConfig(Contributor, AppConfig):
    """The app of validation. Its tables are in the database of every data store."""

    name = "edfi_api.features.validation"
    label = "validation"
    verbose_name = "Validation"
    published_resources = ("edfi_api.features.validation.extension_model.published_surface",)

    def ready(self) -> None:
        from edfi_api.features.validation.login import grant_reading  # noqa: PLC0415  Its imports need the app registry.

        post_migrate.connect(grant_reading, sender=self)
