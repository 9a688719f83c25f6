"""The Django app of push, whose tables are in each database with documents."""

from django.apps import AppConfig
from django.db.models.signals import post_delete


class PushConfig(AppConfig):
    """Label `exchange_push`."""

    name = "edfi_api.features.exchange.push"
    label = "exchange_push"
    verbose_name = "Push to other APIs"

    def ready(self) -> None:
        from edfi_api.features.exchange.push.sent_documents import forget_removed  # noqa: PLC0415  Apps come before their models.

        post_delete.connect(forget_removed, sender="exchange.Connection")
