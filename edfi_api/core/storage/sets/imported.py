"""Writes staged rows that come with their ids, times and change versions from another server.

What stands here already takes the id of its row, with all links to it. Left out, with an outcome that says why, are
rows whose document was changed here (STALE), and those whose id a document with another key has, or an earlier row
(OTHER_IDENTITY).
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import connections
from psycopg import Cursor
from psycopg.rows import TupleRow

from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.sets import statements
from edfi_api.core.storage.sets.conflicts import Conflicts, Resolve
from edfi_api.core.storage.sets.staging import DocumentEnvelope, find_conflicts, leave_out, rows_of, stage, write_passes
from edfi_api.core.storage.stored import Outcome

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
    with keeping_versions(cursor):
        statement = Sql(statements.write_imported(keeps_keys=keeps_keys))
        return conflicts, left_out | write_passes(cursor, conflicts, len(others), None, statement)


@contextmanager
def keeping_versions(cursor: Any) -> Iterator[None]:
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
    with keeping_versions(cursor):
        ids = [UUID(bytes=alias) for alias in aliases]
        cursor.execute(statements.ADOPT, {"ids": ids, "client": client}, prepare=False)
