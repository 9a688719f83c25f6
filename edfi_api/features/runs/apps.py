"""The Django app of reports of runs."""

from django.apps import AppConfig

from edfi_api.common.contributions import Contributor


class RunsConfig(Contributor, AppConfig):
    """Label `runs`."""

    name = "edfi_api.features.runs"
    label = "runs"
    verbose_name = "Reports of runs"
    request_counters = ("edfi_api.features.runs.counting.run_counter",)
    housekeeping = ("edfi_api.features.runs.management.commands.purge_runs.Command",)
