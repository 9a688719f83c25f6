"""The Django app of API profiles."""

from django.apps import AppConfig


class ProfilesConfig(AppConfig):
    """Label `profiles`."""

    name = "edfi_api.core.security.profiles"
    label = "profiles"
    verbose_name = "API profiles"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from edfi_api.core.security.profiles import checks  # noqa: F401, PLC0415  Models exist when this runs.
