"""System check of the database: can every resource be granted, and is it said how it is authorized?

Runs with `migrate` and with `manage.py check --database default`.
"""

from collections.abc import Iterable
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connections

from edfi_api.startup import current_surface

from .bundled_claims import UNSECURED
from .claim_uris import claim_name
from .models import ResourceClaim


@register(Tags.database)
def resources_have_claims(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """A warning for what no claim set can grant, and for what only claim sets with strategies of their own reach."""
    if "default" not in (databases or ()) or not _has_tables():
        return []
    parents = dict(ResourceClaim.objects.values_list("name", "parent__name"))
    if not parents:
        return []
    names = {claim_name(resource) for resource in current_surface().resources}
    missing = sorted(names - parents.keys())
    unsecured = sorted(name for name in names & parents.keys() if parents[name] == UNSECURED)
    return [*_warning("W001", "There is no resource claim for", missing), *_warning("W002", _UNSECURED, unsecured)]


_UNSECURED = f"{UNSECURED} has no default strategies, so ordinary claim sets do not reach"


def _has_tables() -> bool:
    return ResourceClaim._meta.db_table in connections["default"].introspection.table_names()


def _warning(number: str, text: str, names: list[str]) -> list[CheckMessage]:
    hint = "Add a resource claim, or move it to another domain, in the admin or with load_claim_sets."
    return [Warning(f"{text}: {', '.join(names)}", hint=hint, id=f"security.{number}")] if names else []
