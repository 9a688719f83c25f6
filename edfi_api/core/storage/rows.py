"""Rows of documents of one resource, which one statement writes together: those of a group of upserts, or of a set."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.db import DatabaseError, InterfaceError

from edfi_api.core.documents.document_validator import ValidatedDocument
from edfi_api.core.documents.securables import COLUMNS
from edfi_api.core.storage import policy_statements, resource_types
from edfi_api.core.storage.driver.execution import StatementAborted, execute
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.row_policy import SetConditions
from edfi_api.core.storage.stored import Outcome, Written

# Rows are a parameter of the statement. A temporary table for each set would cost more than writing ten documents: its
# entries in the catalogs are written, and all sessions have to drop what they have cached of those. A parameter has no
# statistics: the planner assumes a hundred rows, and every condition has to let it expect several, or it compares each
# row with every other one.
_COLUMNS = {
    "position": "integer",
    "document_uuid": "uuid",
    "resource_type_id": "smallint",
    "referential_id": "uuid",
    "superclass_id": "uuid",
    "targets": "uuid[]",
    "linked": "uuid[]",
    "body": "jsonb",
    **COLUMNS,
    "expected_version": "bigint",
}
STAGED = f"""staged_document AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(rows)s::jsonb)
        AS sent ({", ".join(f"{name} {type_}" for name, type_ in _COLUMNS.items())})
)"""


class Row(NamedTuple):
    """A document to write; `expected_version` as in the statements of single writes: the change version to replace, 0
    for an insert only, None for either. `document_uuid` is the id that a new document gets."""

    document: ValidatedDocument
    document_uuid: UUID
    expected_version: int | None = None

    def staged(self, position: int, resource_type: int) -> dict[str, Any]:
        """The columns of `staged_document`."""
        document, identity = self.document, self.document.identity
        return {
            "position": position,
            "document_uuid": self.document_uuid,
            "resource_type_id": resource_type,
            "referential_id": identity.referential_id,
            "superclass_id": identity.superclass_id,
            "targets": document.targets,
            "linked": document.linked,
            "body": orjson.Fragment(document.text),
            **document.securables._asdict(),
            "expected_version": self.expected_version,
        }


def write_likely(
    rows: Mapping[int, Row], likely: Outcome, conditions: SetConditions, using: str, client: int | None
) -> dict[int, Written]:
    """Write rows of one resource, by position, by the statement that does only what leads to the likely outcome. The
    results of those that have it; none if the statement fails, such as for a concurrent write. Whether there is another
    outcome, or a refusal, is for the caller to find out."""
    number = resource_types.numbers(using)[next(iter(rows.values())).document.resource.name]
    has_links = any(row.document.linked for row in rows.values())
    composed = policy_statements.likely_set(likely, conditions, STAGED, has_links=has_links)
    statement = composed.with_values(client=client)
    try:
        found = executed_over(statement, [row.staged(position, number) for position, row in rows.items()], using)
    except (DatabaseError, InterfaceError, StatementAborted):
        return {}
    return {position: Written(Outcome(outcome), id_, version) for position, outcome, id_, version in found}


def executed_over(statement: Sql, staged: list[dict[str, Any]], using: str) -> list[tuple[Any, ...]]:
    """The rows of a statement over these rows; no statement without any."""
    return execute(statement.with_values(rows=orjson.dumps(staged).decode()), using) if staged else []
