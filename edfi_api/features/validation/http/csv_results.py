"""Results as CSV: all that a request selects, read in parts, for people who repair data with a spreadsheet."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from django.http.response import HttpResponseBase

from edfi_api.core.queries.listing.csv_text import CONTENT_TYPE, csv_file
from edfi_api.core.queries.listing.sql_rows import SqlRows
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.web.viewsets.responses import json_file_response

COLUMNS = (
    "ruleIdentifier", "ruleSource", "severity", "category", "educationOrganizationId", "resourceType", "naturalKey",
    "resourceId", "studentUniqueId", "staffUniqueId", "message", "additionalContexts", "appearedDateTime",
    "resolvedDateTime", "resultIdentifier",
)  # fmt: skip
_HEADERS = {"Content-Type": CONTENT_TYPE}
_ROWS_AT_ONCE = 1_000


def csv_response(rows: SqlRows, using: str) -> HttpResponseBase:
    """Rows in the order of their appearance."""
    return json_file_response(csv_file(COLUMNS, _cells(rows, using)), _HEADERS)


def _cells(rows: SqlRows, using: str) -> Iterator[Iterable[Any]]:
    rows, last = replace(rows, version=None), 0
    while True:
        found = rows.where(Sql(f"{rows.row} > %(after)s::bigint", {"after": last})).read(using, _ROWS_AT_ONCE)
        for _, result in found:
            yield _row(result)
        if len(found) < _ROWS_AT_ONCE:
            return
        last, _ = found[-1]


def _row(result: dict[str, Any]) -> list[Any]:
    flat = {**result, **result["validationRuleReference"], **result["educationOrganizationReference"]}
    flat |= {**result.get("studentReference", {}), **result.get("staffReference", {})}
    flat["severity"] = result["severityDescriptor"].rpartition("#")[2]
    contexts = result.get("additionalContexts") or ()
    flat["additionalContexts"] = "; ".join(
        f"{each['identificationCode']}: {each['customizationValue']}" for each in contexts
    )
    return [flat.get(column) for column in COLUMNS]
