"""System check of the stored profiles: whether they fit the served standard.

Runs with `migrate` and with `manage.py check --database default`.
"""

from collections.abc import Iterable
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connections

from edfi_api.core.security.profiles.loading import incompatible_profiles
from edfi_api.core.security.profiles.models import Profile
from edfi_api.core.served import current_surface
from edfi_api.model.profiles.checking import ProfileChecker

_HINT = (
    "Requests cannot name it, and the clients of its applications do not reach the resources that it names. Load a "
    "definition that fits, or take it away from them with assign_profiles."
)


@register(Tags.database)
def profiles_fit(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Warn of each profile that does not fit, mostly after an upgrade of the standard."""
    if "default" not in (databases or ()) or not _is_migrated():
        return []
    return [
        Warning(
            f"The profile {name} does not fit the data standard: {' '.join(errors)}", hint=_HINT, id="profiles.W001"
        )
        for name, errors in incompatible_profiles(ProfileChecker(current_surface()))
    ]


def _is_migrated() -> bool:
    """The check runs before `migrate` too, when the table, or a new column of it, is not there yet."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass(%s)", [Profile._meta.db_table]
        )
        present = {column for (column,) in cursor.fetchall()}
    return present >= {field.column for field in Profile._meta.concrete_fields}
