"""The app of the commands that load, export and provision."""

from django.apps import AppConfig


class LoadingConfig(AppConfig):
    """Has no models."""

    name = "edfi_api.features.loading"
    label = "loading"
    verbose_name = "Loading and export"
