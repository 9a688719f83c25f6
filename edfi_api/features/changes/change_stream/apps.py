"""The Django app that delivers changes to sinks and handlers."""

from django.apps import AppConfig


class ChangeStreamConfig(AppConfig):
    """Label `change_stream`."""

    name = "edfi_api.features.changes.change_stream"
    label = "change_stream"
    verbose_name = "Change stream"
