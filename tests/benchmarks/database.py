"""What is asked of the database itself: the write statement bare, as the ceiling of writes, and rows to delete."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg

from edfi_api.documents import statements
from edfi_api.documents.securables import Securables
from meadowlark.embedded_postgres import binaries
from tests.benchmarks.load import Measured

_POOL = 500
_PREPARED = ["--no-vacuum", "--protocol=prepared"]
# pgbench would take `:true` for one of its variables, so a blank follows each colon.
_BODY = (
    '{"studentReference": {"studentUniqueId": "%s"}, "schoolReference": {"schoolId": 1}, "entryDate": "2025-08-20",'
    ' "entryGradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade",'
    ' "entryTypeDescriptor": "uri://ed-fi.org/EntryTypeDescriptor#Other", "primarySchool": true}'
)
_TARGETS = """
SELECT d.resource_type_id, array_agg(r.alias_id),
       array_agg(r.alias_id) FILTER (WHERE t.document_uuid = ANY (d.linked_ids))
  FROM document d JOIN resource_type type ON type.id = d.resource_type_id JOIN reference r ON r.document_id = d.id
  JOIN alias a ON a.referential_id = r.alias_id JOIN document t ON t.id = a.document_id
 WHERE type.name = 'StudentSchoolAssociation' GROUP BY d.id LIMIT %s
"""
_COPY_STUDENTS = """
WITH model AS (
    SELECT d.id, d.resource_type_id, d.body FROM document d JOIN resource_type t ON t.id = d.resource_type_id
     WHERE t.name = 'Student' LIMIT 1
), copied AS (
    INSERT INTO document (document_uuid, resource_type_id, natural_key, body)
    SELECT gen_random_uuid(), resource_type_id, 'NK#copy', body FROM model, generate_series(1, %s)
    RETURNING id, document_uuid
), aliases AS (
    INSERT INTO alias (referential_id, document_id) SELECT gen_random_uuid(), id FROM copied
), refs AS (
    INSERT INTO reference (document_id, resource_type_id, alias_id)
    SELECT copied.id, r.resource_type_id, r.alias_id FROM copied, model JOIN reference r ON r.document_id = model.id
)
SELECT document_uuid FROM copied
"""


def copied_students(database_url: str, documents: int) -> list[UUID]:
    """Ids of that many new students to whom nothing refers."""
    with psycopg.connect(database_url) as connection:
        return [id_ for (id_,) in connection.execute(_COPY_STUDENTS, [documents])]


def bare_statement(database_url: str, connections: int, seconds: float) -> Measured:
    """The upsert of new associations by pgbench, prepared, one statement a transaction."""
    with tempfile.TemporaryDirectory() as folder:
        script, log = Path(folder, "script.sql"), Path(folder, "log")
        script.write_text(_script(database_url))
        load = [*_PREPARED, f"--client={connections}", f"--jobs={min(connections, 2)}", f"--time={round(seconds)}"]
        command = [str(binaries() / "pgbench"), *load, "--log", f"--log-prefix={log}", f"--file={script}", database_url]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        times = sorted(_milliseconds(log))
    return Measured(
        requests=int(_number(r"actually processed: (\d+)", told)),
        errors=int(_number(r"failed transactions: (\d+)", told)),
        per_second=_number(r"tps = ([\d.]+)", told),
        p50=times[len(times) // 2],
        p99=times[len(times) * 99 // 100],
    )


def _milliseconds(log: Path) -> Iterator[float]:
    """How long each statement took: the third column of what each job logged, in microseconds."""
    for file in log.parent.glob(f"{log.name}.*"):
        yield from (int(line.split()[2]) / 1000 for line in file.read_text().splitlines())


def _script(database_url: str) -> str:
    with psycopg.connect(database_url) as connection:
        found = connection.execute(_TARGETS, [_POOL]).fetchall()
    parameters = {
        "resource_type": f"{found[0][0]}",
        "referential_id": "md5(:n::text)::uuid",
        "natural_key": "('NK#' || :n::text)",
        "aliases": "ARRAY[md5(:n::text)::uuid]",
        "targets": _one_of([targets for _, targets, _ in found]),
        "linked": _one_of([linked for _, _, linked in found]),
        "body": "('" + _BODY.replace("%s", "' || :n::text || '") + "')",
        "document_uuid": "md5('id' || :n::text)::uuid",
        "client": "1",
        "expected_version": "NULL",
        **dict.fromkeys(Securables._fields, "NULL"),
        "organization": "1",
        "student": ":n::text",
        "opens_pathway": "true",
    }
    return f"\\set n random(1, 1000000000000000)\n{statements.upsert(None).strip() % parameters};\n"


def _one_of(lists: list[list[UUID]]) -> str:
    """One row of a two-dimensional array; unnest and ALL take it for a list."""
    rows = ",".join("{" + ",".join(map(str, each)) + "}" for each in lists)
    row = f"(1 + :n::bigint % {len(lists)})::int"
    return f"('{{{rows}}}'::uuid[])[{row} : {row}]"


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    if found is None:
        raise RuntimeError(f"pgbench told nothing of {pattern}: {text}")
    return float(found[1])
