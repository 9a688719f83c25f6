"""The Django app of sandboxes."""

from django.apps import AppConfig

from edfi_api.common.contributions import Contributor


class SandboxesConfig(Contributor, AppConfig):
    """Label `sandboxes`."""

    name = "edfi_api.features.sandboxes"
    label = "sandboxes"
    verbose_name = "Sandboxes"
    housekeeping = ("edfi_api.features.sandboxes.management.commands.drop_ended_sandboxes.Command",)
