"""Entries as rows for people who analyse them: the admin's CSV and `export_refusals`."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from edfi_api.core.security.models import ApiClient
from edfi_api.features.refusals.models import Refusal
from edfi_api.features.refusals.personal_data import is_hashed
from edfi_api.web.problem_details.problem import HINT

COLUMNS = (
    "id",
    "client",
    "direction",
    "resource",
    "natural_key",
    "document_uuid",
    "organization",
    "operation",
    "status",
    "problem",
    "title",
    "messages",
    "cause_text",
    "cause_gone",
    "correlation_id",
    "first_at",
    "last_at",
    "count",
    "resolution",
    "resolved_at",
)
_AT_ONCE = 1_000


def exported_rows(entries: "QuerySet[Refusal]") -> Iterator[list[Any]]:
    """The values of `COLUMNS`, in bounded memory."""
    names = dict(ApiClient.objects.values_list("pk", "name"))
    for entry in entries.iterator(chunk_size=_AT_ONCE):
        values = vars(entry) | {"client": names.get(entry.client, entry.client), "messages": _messages(entry)}
        if is_hashed():
            values |= {"natural_key": None, "organization": None}
        yield [values[name] for name in COLUMNS]


def _messages(entry: Refusal) -> str:
    lines = [f"{path}: {text}" for path, texts in entry.paths.items() for text in texts]
    return "\n".join([*lines, *entry.errors, *(f"{HINT}{hint}" for hint in entry.hints)])
