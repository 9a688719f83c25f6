"""The Django app of the exchange with other APIs."""

from django.apps import AppConfig

from edfi_api.common.contributions import Contributor


class ExchangeConfig(Contributor, AppConfig):
    """The app of exchange. Its workers are processes of their own; nothing of it runs in those that serve requests."""

    name = "edfi_api.features.exchange"
    label = "exchange"
    verbose_name = "Exchange with other APIs"
    metrics = ("edfi_api.features.exchange.metrics.metrics",)
    encrypted_columns = ("edfi_api.features.exchange.stored_connections.encrypt_secrets_again",)
    senders_of_refused_documents = ("edfi_api.features.exchange.push.sent_refusals.ask_again",)
