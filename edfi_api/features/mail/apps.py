"""The Django app of the weekly mail."""

from django.apps import AppConfig


class MailConfig(AppConfig):
    """Label `mail`."""

    name = "edfi_api.features.mail"
    label = "mail"
    verbose_name = "Mail"
