"""The Django app of the exchange with other APIs."""

from django.apps import AppConfig


class ExchangeConfig(AppConfig):
    """Its workers are processes of their own; nothing of it runs in those that serve requests."""

    name = "edfi_api.features.exchange"
    label = "exchange"
    verbose_name = "Exchange with other APIs"
