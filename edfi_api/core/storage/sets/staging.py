"""Stages rows by COPY, for loads, and writes them with a few statements, in one transaction.

Further rows for the document of another one are written in a later pass. Behind a concurrent write nothing is written,
or a row has no outcome: the caller writes it alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError, OperationalError, connections, transaction
from psycopg import Cursor, errors
from psycopg.rows import TupleRow

from edfi_api.core.documents.document_validator import ValidatedDocument
from edfi_api.core.storage.driver.sql import Sql, all_of, merged
from edfi_api.core.storage.row_policy import SetConditions
from edfi_api.core.storage.sets import statements
from edfi_api.core.storage.sets.conflicts import Conflicts, Resolve
from edfi_api.core.storage.stored import Outcome

_IN_NO_PASS = 0
_CONCURRENT = (errors.DeadlockDetected, errors.SerializationFailure)


# The characters with a meaning in COPY's text format, and their escape sequences.
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_IS_TO_ESCAPE = re.compile(r"[\\\t\n\r]")
_NULL = "\\N"


class MetConcurrentWrites(Exception):
    """The transaction of the batch failed because of a concurrent one; nothing was written."""


@contextmanager
def one_transaction(using: str) -> Iterator[Cursor[TupleRow]]:
    """A psycopg cursor in a transaction, or in a savepoint of the caller's transaction."""
    connection = connections[using]
    is_of_caller = connection.in_atomic_block
    try:
        with transaction.atomic(using), connection.wrap_database_errors, Cursor(connection.connection) as cursor:
            _run(cursor, statements.WITHOUT_JIT)
            if not is_of_caller:
                _run(cursor, statements.WITHOUT_WAITING_FOR_DISK)
            yield cursor
    except IntegrityError as error:
        raise MetConcurrentWrites from error
    except OperationalError as error:
        if isinstance(error.__cause__, _CONCURRENT):
            raise MetConcurrentWrites from error
        raise


def write_staged(
    cursor: Cursor[TupleRow],
    lines: bytes,
    aliases: Mapping[int, tuple[bytes, ...]],
    resolve: Resolve,
    client: int | None,
    *,
    statement: Sql,
) -> tuple[Conflicts, dict[int, Outcome]]:
    """Write the rows that do not conflict: `lines` are input of COPY, `aliases` the referential ids of each row."""
    stage(cursor, lines)
    conflicts = find_conflicts(cursor, aliases, resolve)
    return conflicts, write_passes(cursor, conflicts, len(aliases), client, statement)


def of_rows(*, keeps_keys: bool, began: int | None = None) -> Sql:
    """Return the statement of `write_staged`. `keeps_keys` says that the rows are descriptors: stored ones keep the
    spelling of their keys. With the change version at which the load `began`, stored documents stay as they are, and
    are DIFFERENT, or REPEATED if they were written since then."""
    if began is None:
        return Sql(statements.write(keeps_keys=keeps_keys))
    return Sql(statements.insert(keeps_keys=keeps_keys), {"began": began})


def under_conditions(conditions: SetConditions, *, keeps_keys: bool) -> Sql:
    """Return the statement of `write_staged` for rows for which these conditions hold; others have no outcome.
    `keeps_keys` as in `of_rows`."""
    stored, new = all_of([conditions.using, conditions.with_check]), conditions.with_check_new
    text = statements.authorized_pass(stored.text, new.text, keeps_keys=keeps_keys)
    return Sql(text, merged(stored.parameters, new.parameters))


def write_passes(
    cursor: Cursor[TupleRow], conflicts: Conflicts, rows: int, client: int | None, statement: Sql
) -> dict[int, Outcome]:
    """Write those of the staged `rows` that do not conflict; outcomes by position."""
    outcomes: dict[int, Outcome] = {}
    for pass_number, size in enumerate(conflicts.pass_sizes(rows), start=1):
        written = _written(cursor, pass_number, client, statement)
        outcomes |= written
        if len(written) < size:
            break  # A document that changed concurrently is written alone, and further rows for it have to follow.
    return outcomes


def stage(cursor: Cursor[TupleRow], lines: bytes, statement: str = statements.COPY) -> None:
    _run(cursor, statements.STAGE)
    with cursor.copy(statement) as copy:
        copy.write(lines)
    _run(cursor, statements.ANALYZE)


def last_version(using: str) -> int:
    """The change version that was given last; those of later writes are greater."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT coalesce(pg_sequence_last_value('change_version'), 0)")
        return int(cursor.fetchone()[0])


def leave_out(cursor: Cursor[TupleRow], positions: Iterable[int]) -> None:
    """Leave out these staged rows, which are not written."""
    chosen = list(positions)
    _run(cursor, statements.SET_PASSES, {"positions": chosen, "passes": [_IN_NO_PASS] * len(chosen)})


def find_conflicts(cursor: Cursor[TupleRow], aliases: Mapping[int, tuple[bytes, ...]], resolve: Resolve) -> Conflicts:
    not_stored: dict[int, set[bytes]] = {}
    for position, target in rows_of(cursor, statements.NOT_STORED):
        not_stored.setdefault(position, set()).add(target.bytes)
    have_superclass = any(len(ids) > 1 for ids in aliases.values())
    duplicates = {position for (position,) in rows_of(cursor, statements.DUPLICATES)} if have_superclass else set()
    conflicts = resolve(aliases, not_stored, duplicates)
    _set_passes(cursor, conflicts)
    return conflicts


def _set_passes(cursor: Cursor[TupleRow], conflicts: Conflicts) -> None:
    passes = conflicts.later | dict.fromkeys([*conflicts.duplicates, *conflicts.missing], _IN_NO_PASS)
    if passes:
        _run(cursor, statements.SET_PASSES, {"positions": list(passes), "passes": list(passes.values())})


def _written(cursor: Cursor[TupleRow], pass_number: int, client: int | None, statement: Sql) -> dict[int, Outcome]:
    """Outcomes by position; rows that were changed concurrently are missing."""
    found: dict[int, Outcome] = {}
    parameters = {**statement.parameters, "pass_number": pass_number, "client": client}
    for outcome, positions in rows_of(cursor, statement.text, parameters):
        found |= dict.fromkeys(positions, Outcome(outcome))
    return found


def rows_of(cursor: Cursor[TupleRow], statement: str, parameters: Mapping[str, Any] | None = None) -> list[TupleRow]:
    return _run(cursor, statement, parameters).fetchall()


def _run(cursor: Cursor[TupleRow], statement: str, parameters: Mapping[str, Any] | None = None) -> Cursor[TupleRow]:
    """Run a statement that is not prepared: batches differ in size, so each execution needs its own plan. Also, psycopg
    deallocates all prepared statements of a connection after a rollback, those of `prepared_statements` among them.
    """
    return cursor.execute(statement, parameters, prepare=False)


class DocumentEnvelope(NamedTuple):
    """The envelope that a document has on another server: times in UTC as text, its change version if that server
    counts them, and the row id of the API client that owns it here."""

    created_at: str
    last_modified_at: str
    change_version: int | None = None
    owner: int | None = None


def copy_line(
    position: int,
    incoming: ValidatedDocument,
    resource_type: int,
    new_id: str,
    envelope: DocumentEnvelope | None,
) -> str:
    """One line of COPY's text format, in the order of the columns of `statements.COPY`, or `COPY_IMPORTED` with an
    envelope. `new_id` is the id that the document gets if it is new."""
    identity = incoming.identity
    fields = (
        str(position),
        new_id,
        str(resource_type),
        identity.referential_id.hex,
        _NULL if identity.superclass_id is None else identity.superclass_id.hex,
        _uuid_array(incoming.targets),
        _uuid_array(incoming.linked),
        incoming.text.decode().replace("\\", "\\\\"),  # JSON text has no other character to escape.
        *[_NULL if value is None else _securable_field(value) for value in incoming.securables],
        _NULL,  # No version is expected.
        *[_NULL if value is None else _escaped(str(value)) for value in envelope or ()],
    )
    return "\t".join(fields) + "\n"


def _uuid_array(ids: Iterable[UUID]) -> str:
    return "{" + ",".join([f"{each.int:032x}" for each in ids]) + "}"


def _securable_field(value: str | bool | int | list[int]) -> str:
    return "{" + ",".join(map(str, value)) + "}" if isinstance(value, list) else _escaped(str(value))


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES) if _IS_TO_ESCAPE.search(text) else text
