"""The Django app that delivers changes to sinks and handlers."""

from django.apps import AppConfig

from edfi_api.common.contributions import Contributor


class ChangeStreamConfig(Contributor, AppConfig):
    """Label `change_stream`."""

    name = "edfi_api.features.changes.change_stream"
    label = "change_stream"
    verbose_name = "Change stream"
    metrics = ("edfi_api.features.changes.change_stream.metrics.metrics",)
    status_lines_of_databases = (
        "edfi_api.features.changes.change_stream.admin.consumers",
        "edfi_api.features.changes.change_stream.admin.dead_letters",
    )
