"""The Django app of validation: its migrations and models."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from edfi_api.common.contributions import Contributor


class ValidationConfig(Contributor, AppConfig):
    """The app of validation. Its tables are in the database of every data store."""

    name = "edfi_api.features.validation"
    label = "validation"
    verbose_name = "Validation"
    metrics = ("edfi_api.features.validation.metrics.metrics",)
    status_lines_of_databases = ("edfi_api.features.validation.admin.contributions.status_lines",)
    document_panels = ("edfi_api.features.validation.admin.contributions.document_panels",)
    search_groups = ("edfi_api.features.validation.admin.contributions.search_groups",)
    mail_sections = ("edfi_api.features.validation.admin.contributions.mail_section",)
    housekeeping = ("edfi_api.features.validation.management.commands.purge_validation.Command",)
    openapi_documents = {"validation": "edfi_api.features.validation.http"}
    published_resources = ("edfi_api.features.validation.extension_model.published_surface",)

    def ready(self) -> None:
        # Their imports need the app registry.
        from edfi_api.features.validation import checks  # noqa: F401, PLC0415
        from edfi_api.features.validation.connections import grant_reading  # noqa: PLC0415

        post_migrate.connect(grant_reading, sender=self)
