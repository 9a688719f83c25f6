"""The Django app of documents and of everything generated from the model."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class EdFiApiConfig(AppConfig):
    """Registers the receivers of `post_migrate`; neither compiles nor queries."""

    name = "edfi_api.core"
    label = "edfi_api"
    verbose_name = "Ed-Fi API"

    def ready(self) -> None:
        from edfi_api.core.data_stores import provisioning_state  # noqa: PLC0415  Needs the app registry.
        from edfi_api.core.served import fill_resource_types  # noqa: PLC0415

        post_migrate.connect(provisioning_state.record, sender=self)
        post_migrate.connect(fill_resource_types, sender=self)
