"""The Django app of tables: templates, uploads and their reports, which are in the admin database only."""

from django.apps import AppConfig

from edfi_api.common.contributions import Contributor


class TablesConfig(Contributor, AppConfig):
    """The app of tables that become documents."""

    name = "edfi_api.features.tables"
    label = "tables"
    verbose_name = "Tables"
    housekeeping = ("edfi_api.features.tables.management.commands.purge_tables.Command",)
