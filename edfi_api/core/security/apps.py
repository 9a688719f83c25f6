"""The Django app of API clients, claim sets and authorization."""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate


class SecurityConfig(AppConfig):
    """Label `security`, which `OAUTH2_PROVIDER_APPLICATION_MODEL` names."""

    name = "edfi_api.core.security"
    label = "security"
    verbose_name = "API security"

    def ready(self) -> None:
        from edfi_api.core.security import checks  # noqa: F401, PLC0415  Models exist when this runs.

        post_migrate.connect(_fill_claims, sender=self)


def _fill_claims(*, using: str, **_: Any) -> None:
    """Receiver of `post_migrate`, which Django also sends after migrating backwards, when the tables are gone."""
    from edfi_api.core.security.claims.file import fill_claims  # noqa: PLC0415  The app registry is filled before.
    from edfi_api.core.security.models import ClaimSet  # noqa: PLC0415
    from edfi_api.core.served import current_surface  # noqa: PLC0415

    if ClaimSet._meta.db_table in connections[using].introspection.table_names():
        fill_claims(current_surface())
