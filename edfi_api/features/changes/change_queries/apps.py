"""The Django app of change queries."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from edfi_api.common.contributions import Contributor


class ChangeQueriesConfig(Contributor, AppConfig):
    """Connects the receiver that fills the key fields."""

    name = "edfi_api.features.changes.change_queries"
    label = "change_queries"
    verbose_name = "Change queries"
    status_lines_of_databases = ("edfi_api.features.changes.change_queries.admin.last_purge",)
    document_panels = ("edfi_api.features.changes.change_queries.versions_pages.timeline",)
    document_pages = ("edfi_api.features.changes.change_queries.versions_pages.version_pages",)
    housekeeping = ("edfi_api.features.changes.change_queries.management.commands.purge_changes.Command",)
    openapi_documents = {
        "change_queries": "edfi_api.features.changes.change_queries",
        "history": "edfi_api.features.changes.history",
    }

    def ready(self) -> None:
        from edfi_api.features.changes.change_queries.tracked_changes import fill_key_fields  # noqa: PLC0415  Django fills its registry first

        post_migrate.connect(fill_key_fields, sender=self)
