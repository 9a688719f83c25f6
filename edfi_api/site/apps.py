"""The app of what administrators and operators use."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """Registers the system checks of the database and of the environment; has no models."""

    name = "edfi_api.site"
    label = "edfi_site"
    verbose_name = "Administration and operation"

    def ready(self) -> None:
        # They import what needs the app registry, and register themselves.
        from edfi_api.site import checks  # noqa: F401, PLC0415
