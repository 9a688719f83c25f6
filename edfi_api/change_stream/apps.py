"""The Django app that hands changes on: to sinks, and to handlers."""

from django.apps import AppConfig


class ChangeStreamConfig(AppConfig):
    """Label `change_stream`."""

    name = "edfi_api.change_stream"
    label = "change_stream"
    verbose_name = "Change stream"
