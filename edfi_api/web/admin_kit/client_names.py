"""Vendors, applications and API clients by the words of their names, as documents are found."""

from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS

from edfi_api.core.queries.name_index import Word, having_words
from edfi_api.core.security.models import ApiClient, Application, Vendor
from edfi_api.core.storage.driver.execution import found_in_time

# They are read one by one: some 30 microseconds each.
_MILLISECONDS = 250


def rows_named(model: Any, words: Sequence[Word], most: int) -> list[int]:
    """Return the primary keys of rows of a model with a `name`, at most `most`, in the order of their names."""
    if not words:
        return []
    select = f"SELECT id FROM {model._meta.db_table} WHERE "  # noqa: S608  No values.
    found = found_in_time(
        select + having_words("name", words) + f" ORDER BY name LIMIT {most:d}", _MILLISECONDS, DEFAULT_DB_ALIAS
    )
    return [row for (row,) in found]


def clients_named(words: Sequence[Word], most: int) -> list[ApiClient]:
    """Return the API clients with such a name, and those of applications and vendors with one."""
    vendors, applications = rows_named(Vendor, words, most), rows_named(Application, words, most)
    owned = Application.objects.filter(vendor__in=vendors).values_list("pk", flat=True)[:most]
    of_owners = ApiClient.objects.filter(application__in=[*applications, *owned]).values_list("pk", flat=True)[:most]
    return list(
        ApiClient.objects.filter(pk__in=[*rows_named(ApiClient, words, most), *of_owners]).order_by("name")[:most]
    )
