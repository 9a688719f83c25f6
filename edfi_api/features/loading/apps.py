"""The app of the commands that load, export and provision."""

from django.apps import AppConfig

from edfi_api.common.contributions import Contributor


class LoadingConfig(Contributor, AppConfig):
    """Has no models."""

    name = "edfi_api.features.loading"
    label = "loading"
    verbose_name = "Loading and export"
    work_of_processes = ("edfi_api.features.loading.bulk.preparation.prepare",)
