"""The Django app of SQL views: its migrations."""

from django.apps import AppConfig


class SqlViewsConfig(AppConfig):
    """The views themselves are created by a command, never by a migration."""

    name = "edfi_api.features.sql_views"
    label = "sql_views"
    verbose_name = "SQL views"
