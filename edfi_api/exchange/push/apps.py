"""The Django app of push, whose tables are in each database with documents."""

from django.apps import AppConfig


class PushConfig(AppConfig):
    """Label `exchange_push`."""

    name = "edfi_api.exchange.push"
    label = "exchange_push"
    verbose_name = "Push to other APIs"
