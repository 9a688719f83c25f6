"""The Django app of SQL views: its migrations."""

from django.apps import AppConfig

from edfi_api.common.contributions import Contributor


class SqlViewsConfig(Contributor, AppConfig):
    """The views themselves are created by a command, never by a migration."""

    name = "edfi_api.features.sql_views"
    label = "sql_views"
    verbose_name = "SQL views"
    metrics = ("edfi_api.features.sql_views.copies.metrics",)

    def ready(self) -> None:
        from edfi_api.features.sql_views import checks  # noqa: F401, PLC0415  Its imports need the app registry.
