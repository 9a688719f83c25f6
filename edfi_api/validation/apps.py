"""The Django app of validation: its migrations and models."""

from django.apps import AppConfig


class ValidationConfig(AppConfig):
    """Its tables are in the database of every data store."""

    name = "edfi_api.validation"
    label = "validation"
    verbose_name = "Validation"
