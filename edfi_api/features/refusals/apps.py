"""The Django app of the ledger of refusals."""

from django.apps import AppConfig


class RefusalsConfig(AppConfig):
    """Label `refusals`."""

    name = "edfi_api.features.refusals"
    label = "refusals"
    verbose_name = "Refusals"
