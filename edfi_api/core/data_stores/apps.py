"""The Django app of data stores."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class DataStoresConfig(AppConfig):
    """Label `data_stores`."""

    name = "edfi_api.core.data_stores"
    label = "data_stores"
    verbose_name = "Data stores"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from edfi_api.core.data_stores.status import report  # noqa: PLC0415  Models need the app registry.

        post_migrate.connect(report, sender=self)
