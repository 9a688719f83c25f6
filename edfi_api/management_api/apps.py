"""The Django app of the management API."""

from django.apps import AppConfig


class ManagementApiConfig(AppConfig):
    """Has the tables of management clients and their tokens."""

    name = "edfi_api.management_api"
    label = "management_api"
    verbose_name = "Management API"

    def ready(self) -> None:
        from edfi_api.management_api import checks  # noqa: F401, PLC0415
