"""The Django app of the ledger of refusals."""

from django.apps import AppConfig

from edfi_api.common.contributions import Contributor


class RefusalsConfig(Contributor, AppConfig):
    """Label `refusals`."""

    name = "edfi_api.features.refusals"
    label = "refusals"
    verbose_name = "Refusals"
    metrics = ("edfi_api.features.refusals.metrics.open_refusals",)
    status_lines = ("edfi_api.features.refusals.admin.contributions.status_lines",)
    document_panels = ("edfi_api.features.refusals.admin.contributions.document_panels",)
    search_groups = ("edfi_api.features.refusals.admin.contributions.search_groups",)
    mail_sections = ("edfi_api.features.refusals.admin.contributions.mail_section",)
    housekeeping = ("edfi_api.features.refusals.management.commands.purge_refusals.Command",)
    openapi_documents = {"submissions": "edfi_api.features.refusals.http"}
