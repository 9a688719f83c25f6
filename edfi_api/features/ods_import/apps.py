"""The Django app of the import from an ODS: its migrations and its command."""

from django.apps import AppConfig


class OdsImportConfig(AppConfig):
    """The app of the import; nothing of it runs unless the command is called."""

    name = "edfi_api.features.ods_import"
    label = "ods_import"
    verbose_name = "Import from an ODS"
