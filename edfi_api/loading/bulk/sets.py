"""Writes documents of one resource that do not depend on each other with a few statements, under a policy.

Only what is certain is written: rows that the policy denies, whose condition does not hold, whose targets are missing,
or that a concurrent write has changed, have no result. The caller carries these out one at a time, which also finds out
why they are refused.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db import OperationalError

from edfi_api.documents.incoming import IncomingDocument
from edfi_api.loading.bulk import preparation, statements
from edfi_api.loading.bulk.conflicts import Resolve, resolve
from edfi_api.loading.bulk.writing import MetConcurrentWrites, find_conflicts, one_transaction, rows_of, stage
from edfi_api.storage import resource_types
from edfi_api.storage.driver.execution import end_at_deadlock
from edfi_api.storage.driver.sql import Sql, all_of, merged
from edfi_api.storage.row_policy import SetConditions
from edfi_api.storage.stored import Outcome, Written

_ATTEMPTS = 3


class Row(NamedTuple):
    """A document to write; `expected_version` as in the statements of single writes: the change version to replace, 0
    for an insert only, None for either. `document_uuid` is the id that a new document gets."""

    incoming: IncomingDocument
    document_uuid: UUID
    expected_version: int | None = None


def write(
    rows: Sequence[Row], conditions: SetConditions, using: str, client: int, resolve: Resolve = resolve
) -> Mapping[int, Written]:
    """What was written or is unchanged, by position in `rows`. No two rows have a referential id in common. None refers
    to another, unless they are resolved together."""
    numbers = resource_types.numbers(using)
    lines = "".join(
        preparation.line(
            position, row.incoming, numbers[row.incoming.resource.name], row.document_uuid.hex, row.expected_version
        )
        for position, row in enumerate(rows)
    ).encode()
    aliases = {
        position: tuple(alias.bytes for alias in row.incoming.identity.aliases) for position, row in enumerate(rows)
    }
    stored_allowed = all_of([conditions.using, conditions.with_check])
    statement = Sql(
        statements.guarded_write(stored_allowed.text, conditions.with_check_new.text),
        merged(stored_allowed.parameters, conditions.with_check_new.parameters),
    ).with_values(client=client, pass_number=1)
    for _ in range(_ATTEMPTS):
        try:
            return _written(lines, aliases, statement, using, resolve)
        except MetConcurrentWrites as error:
            if isinstance(error.__cause__, OperationalError):
                end_at_deadlock(error.__cause__)
        except OperationalError:
            break
    return {}


def _written(
    lines: bytes, aliases: Mapping[int, tuple[bytes, ...]], statement: Sql, using: str, resolve: Resolve
) -> Mapping[int, Written]:
    with one_transaction(using) as cursor:
        stage(cursor, lines)
        find_conflicts(cursor, aliases, resolve)
        rows = rows_of(cursor, statement.text, statement.parameters)
    return {position: Written(Outcome(outcome), id_, version) for position, outcome, id_, version in rows}
