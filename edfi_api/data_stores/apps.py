"""The Django app of data stores."""

from django.apps import AppConfig


class DataStoresConfig(AppConfig):
    """Label `data_stores`."""

    name = "edfi_api.data_stores"
    label = "data_stores"
    verbose_name = "Data stores"
    default_auto_field = "django.db.models.BigAutoField"
