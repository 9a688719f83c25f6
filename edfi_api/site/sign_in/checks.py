"""System check of the groups that the settings name.

Runs with `migrate` and with `manage.py check --database default`.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import Group
from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connections

from edfi_api.common.conf import api_settings


@register(Tags.database)
def groups_exist(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Warn of mapped groups that do not exist."""
    named = {group for _, group in api_settings.SIGN_IN_GROUPS}
    if "default" not in (databases or ()) or not named:
        return []
    if Group._meta.db_table not in connections["default"].introspection.table_names():
        return []
    missing = sorted(named - set(Group.objects.values_list("name", flat=True)))
    if not missing:
        return []
    text = f"MEADOWLARK_SIGN_IN_GROUPS names groups that do not exist: {', '.join(missing)}."
    return [Warning(text, hint="Add them in the admin.", id="sign_in.W001")]
