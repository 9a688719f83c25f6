"""The Django app of logging in to the admin."""

from django.apps import AppConfig


class SignInConfig(AppConfig):
    """Has the tables of identities and recovery codes."""

    name = "edfi_api.site.sign_in"
    label = "sign_in"
    verbose_name = "Logging in"

    def ready(self) -> None:
        from edfi_api.site.sign_in import checks  # noqa: F401, PLC0415  Models exist when this runs.
        from edfi_api.site.sign_in.passwords import connect_audit_log  # noqa: PLC0415  Likewise.
        from edfi_api.site.sign_in.sessions import count_logins  # noqa: PLC0415  Likewise.

        count_logins()
        connect_audit_log()
