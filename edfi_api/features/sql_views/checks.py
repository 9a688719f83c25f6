"""A system check: whether the SQL views of a database are those of the served model. It compiles nothing."""

from collections.abc import Iterable
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from edfi_api.common.conf import api_settings
from edfi_api.features import sql_views
from edfi_api.model.surface.cache import CODE_PACKAGES, fingerprint


def current_fingerprint() -> str:
    """Return a digest of the model's sources and of the code that derives views from them."""
    return fingerprint(api_settings.model_sources, (*CODE_PACKAGES, sql_views))


@register(Tags.database)
def sql_views_are_up_to_date(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """A warning if the views were created from another model, or by another version."""
    return [_warning(using) for using in databases or () if _is_stale(using)]


def _is_stale(using: str) -> bool:
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT to_regclass('sql_view') IS NOT NULL")
        if not cursor.fetchone()[0]:
            return False
        cursor.execute("SELECT digest FROM sql_view WHERE schema = ''")
        row = cursor.fetchone()
    try:
        return row is not None and row[0] != current_fingerprint()
    except ImproperlyConfigured:  # Another check reports it.
        return False


def _warning(using: str) -> CheckMessage:
    return Warning(
        f'The SQL views of the database "{using}" were created from another model or by another version; manage.py'
        " create_sql_views brings them in line.",
        id="edfi_api.W006",
    )
