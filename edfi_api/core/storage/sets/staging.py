"""Stages rows by COPY, for loads, and writes them with a few statements, in one transaction.

Further rows for the document of another one are written in a later pass. After a concurrent write nothing is written,
or a row has no outcome: the caller writes it alone.

Rows may come with their ids, times and change versions from another server (`write_imported`). What stands here already
takes the id of its row, with all links to it. Left out, with an outcome that says why, are rows whose document was
changed here (STALE), and those whose id a document with another key has, or an earlier row (OTHER_IDENTITY).
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
    document: ValidatedDocument,
    resource_type: int,
    new_id: str,
    envelope: DocumentEnvelope | None,
) -> str:
    """One line of COPY's text format, in the order of the columns of `statements.COPY`, or `COPY_IMPORTED` with an
    envelope. `new_id` is the id that the document gets if it is new."""
    identity = document.identity
    fields = (
        str(position),
        new_id,
        str(resource_type),
        identity.referential_id.hex,
        _NULL if identity.superclass_id is None else identity.superclass_id.hex,
        _uuid_array(document.targets),
        _uuid_array(document.linked),
        document.text.decode().replace("\\", "\\\\"),  # JSON text has no other character to escape.
        *[_NULL if value is None else _securable_field(value) for value in document.securables],
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


# Without it, each version would get a number of its own (`supersede_document`). It ends with the transaction at the
# latest.
_SET_KEEPS_VERSIONS = "SELECT set_config('meadowlark.keeps_versions', %s, true)"

_MOVE_IDS = """
UPDATE document d SET document_uuid = s.document_uuid
  FROM staged_document s JOIN alias a ON a.referential_id = s.referential_id
  JOIN document before ON before.id = a.document_id
 WHERE d.id = before.id AND d.document_uuid <> s.document_uuid
   AND NOT d.change_version <@ %(changed_here)s::int8multirange
   AND NOT EXISTS (SELECT FROM document other WHERE other.document_uuid = s.document_uuid)
RETURNING d.id, before.document_uuid, d.document_uuid
"""
_MOVE_LINKS = """
WITH moved AS (
    SELECT * FROM unnest(%(rows)s::bigint[], %(old)s::uuid[], %(new)s::uuid[]) AS m (id, old, new)
)
UPDATE document f
   SET linked_ids = ARRAY(
       SELECT coalesce(m.new, link) FROM unnest(f.linked_ids) WITH ORDINALITY AS l (link, place)
         LEFT JOIN moved m ON m.old = link
        ORDER BY place
   )
 WHERE f.linked_ids && %(old)s::uuid[]
   AND f.id IN (
       SELECT r.document_id
         FROM moved m JOIN alias a ON a.document_id = m.id JOIN reference r ON r.alias_id = a.referential_id
   )
"""
_LEFT_OUT = """
SELECT s.position, CASE WHEN d.body = {body} THEN 'unchanged' ELSE 'stale' END
  FROM staged_document s
  JOIN alias a ON a.referential_id = s.referential_id
  JOIN document d ON d.id = a.document_id
 WHERE d.change_version <@ %(changed_here)s::int8multirange AND NOT {is_same}
 UNION ALL
SELECT s.position, CASE WHEN d.change_version <@ %(changed_here)s::int8multirange THEN 'stale' ELSE 'other identity' END
  FROM staged_document s
  JOIN document d ON d.document_uuid = s.document_uuid
 WHERE NOT EXISTS (SELECT FROM alias a WHERE a.document_id = d.id AND a.referential_id = s.referential_id)
 UNION ALL
SELECT s.position, 'other identity'
  FROM (SELECT position, row_number() OVER (PARTITION BY document_uuid ORDER BY position) AS number
          FROM staged_document) s
 WHERE s.number > 1
"""

_GIVE_ENVELOPE = """
UPDATE document
   SET created_at = %(created_at)s, last_modified_at = %(last_modified_at)s,
       created_by = coalesce(%(owner)s, created_by), change_version = coalesce(%(change_version)s, change_version)
 WHERE document_uuid = %(id)s
"""


def write_imported(
    cursor: Cursor[TupleRow],
    lines: bytes,
    aliases: Mapping[int, tuple[bytes, ...]],
    resolve: Resolve,
    changed_here: str,
    *,
    keeps_keys: bool,
) -> tuple[Conflicts, dict[int, Outcome]]:
    """Write what `write_staged` writes; `changed_here` has the change versions that were given here, as a multirange.
    `keeps_keys` as in `of_rows`.
    """
    stage(cursor, lines, statements.COPY_IMPORTED)
    values = {"changed_here": changed_here}
    if moved := rows_of(cursor, _MOVE_IDS, values):
        rows, old, new = zip(*moved, strict=True)
        cursor.execute(_MOVE_LINKS, {"rows": list(rows), "old": list(old), "new": list(new)}, prepare=False)
    body = statements.body_of("s", keeps_keys=keeps_keys)
    found = _LEFT_OUT.format(body=body, is_same=statements.is_same_as_imported(keeps_keys=keeps_keys))
    left_out = {position: Outcome(outcome) for position, outcome in rows_of(cursor, found, values)}
    others = {position: ids for position, ids in aliases.items() if position not in left_out}
    conflicts = find_conflicts(cursor, others, resolve)
    if left_out:
        leave_out(cursor, left_out)
    with keep_versions(cursor):
        statement = Sql(statements.write_imported(keeps_keys=keeps_keys))
        return conflicts, left_out | write_passes(cursor, conflicts, len(others), None, statement)


@contextmanager
def keep_versions(cursor: Any) -> Iterator[None]:
    """Updates within it give documents no new version, and record no change of a key."""
    cursor.execute(_SET_KEEPS_VERSIONS, ["yes"])
    yield
    cursor.execute(_SET_KEEPS_VERSIONS, [""])


def give_envelope(document_uuid: UUID, envelope: DocumentEnvelope, using: str) -> None:
    """Give a document the envelope that it has on another server."""
    with connections[using].cursor() as cursor:
        cursor.execute(_GIVE_ENVELOPE, {"id": document_uuid, **envelope._asdict()})


def adopt(cursor: Cursor[TupleRow], aliases: Iterable[bytes], client: int) -> None:
    """Make the client the owner of the documents with these referential ids. They keep their versions."""
    with keep_versions(cursor):
        ids = [UUID(bytes=alias) for alias in aliases]
        cursor.execute(statements.ADOPT, {"ids": ids, "client": client}, prepare=False)
