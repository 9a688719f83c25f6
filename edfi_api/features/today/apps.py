"""The Django app of Today."""

from django.apps import AppConfig

from edfi_api.common.contributions import Contributor


class TodayConfig(Contributor, AppConfig):
    """Label `today`."""

    name = "edfi_api.features.today"
    label = "today"
    verbose_name = "Today"
    front_page = ("edfi_api.features.today.pages.today_context",)
    document_panels = ("edfi_api.features.today.document_panels.school",)
    admin_pages = ("edfi_api.features.today.pages.school_pages",)

    def ready(self) -> None:
        from edfi_api.features.today import checks  # noqa: F401, PLC0415  Registers the check.
