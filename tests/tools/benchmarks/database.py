"""Measurements of the database alone: the bare write statement, an upper bound of writes, and rows to delete."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import UUID, uuid4

import psycopg

from edfi_api.core.documents.securables import Securables
from edfi_api.core.storage import policy_statements
from edfi_api.core.storage.stored import Outcome
from meadowlark.run.postgres_programs import binaries
from references.identity import natural_key, referential_id
from tests.tools.benchmarks.load import Measured

_PREPARED = ["--no-vacuum", "--protocol=prepared"]
# pgbench would read `:true` as one of its variables, so a blank follows each colon.
_JSON = (
    '{"studentReference": {"studentUniqueId": "%s"}, "schoolReference": {"schoolId": 1}, "entryDate": "2025-08-20",'
    ' "entryGradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade",'
    ' "entryTypeDescriptor": "uri://ed-fi.org/EntryTypeDescriptor#Other", "primarySchool": true}'
)
# The expressions of a new association, which both statements write.
_ASSOCIATION = {
    "referential_id": "md5(:n::text)::uuid",
    "natural_key": "('NK#' || :n::text)",
    "body": "('" + _JSON.replace("%s", "' || :n::text || '") + "')",
    "document_uuid": "md5('id' || :n::text)::uuid",
}
# Reference targets: 500 of the seeded associations are models for the new ones.
_MODELS = """
DROP TABLE IF EXISTS benchmark_model;
CREATE TABLE benchmark_model AS
SELECT row_number() OVER () AS number, d.resource_type_id, d.organization, d.student,
       array_agg(r.alias_id) AS targets,
       array_agg(r.alias_id ORDER BY array_position(d.linked_ids, t.document_uuid))
         FILTER (WHERE t.document_uuid = ANY (d.linked_ids)) AS linked
  FROM document d JOIN resource_type type ON type.id = d.resource_type_id JOIN reference r ON r.document_id = d.id
  JOIN alias a ON a.referential_id = r.alias_id JOIN document t ON t.id = a.document_id
 WHERE type.name = 'StudentSchoolAssociation' GROUP BY d.id LIMIT 500;
ALTER TABLE benchmark_model ADD PRIMARY KEY (number);
ANALYZE benchmark_model;
SELECT resource_type_id FROM benchmark_model LIMIT 1
"""
_PLAIN_TABLES = """
CREATE SCHEMA IF NOT EXISTS benchmark;
CREATE TABLE IF NOT EXISTS benchmark.document (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, document_uuid uuid NOT NULL, resource_type_id smallint NOT NULL,
    natural_key text NOT NULL, body jsonb NOT NULL
);
CREATE TABLE IF NOT EXISTS benchmark.alias (referential_id uuid PRIMARY KEY, document_id bigint NOT NULL);
CREATE TABLE IF NOT EXISTS benchmark.reference (
    document_id bigint NOT NULL, alias_id uuid NOT NULL, PRIMARY KEY (document_id, alias_id)
)
"""
_PLAIN_UPSERT = """
WITH inserted AS (
    INSERT INTO benchmark.document (document_uuid, resource_type_id, natural_key, body)
    SELECT %(document_uuid)s, %(resource_type)s, %(natural_key)s, %(body)s::jsonb
     WHERE NOT EXISTS (SELECT FROM benchmark.alias WHERE referential_id = %(referential_id)s)
    RETURNING id
), new_alias AS (
    INSERT INTO benchmark.alias (referential_id, document_id) SELECT %(referential_id)s, id FROM inserted
), new_references AS (
    INSERT INTO benchmark.reference (document_id, alias_id) SELECT id, unnest(%(targets)s::uuid[]) FROM inserted
)
SELECT id FROM inserted
"""
# pgbench has no function for referential ids, so the rows that it writes have random ones.
_REMOVE_ROWS_OF_BARE_STATEMENT = """
DELETE FROM document WHERE opens_pathway AND student <> body #>> '{studentReference,studentUniqueId}'
"""
_COPY_STUDENTS = """
WITH model AS (
    SELECT d.* FROM document d JOIN resource_type t ON t.id = d.resource_type_id WHERE t.name = 'Student' LIMIT 1
), key AS (
    SELECT * FROM unnest(%(unique_ids)s::text[], %(referential_ids)s::uuid[]) AS key (unique_id, referential_id)
), copied AS (
    INSERT INTO document (document_uuid, resource_type_id, body, student, is_person)
    SELECT gen_random_uuid(), resource_type_id, jsonb_set(body, '{studentUniqueId}', to_jsonb(unique_id)), unique_id,
           is_person
      FROM model, key
    RETURNING id, document_uuid, student
), aliases AS (
    INSERT INTO alias (referential_id, document_id)
    SELECT referential_id, id FROM copied JOIN key ON unique_id = student
), refs AS (
    INSERT INTO reference (document_id, resource_type_id, alias_id)
    SELECT copied.id, r.resource_type_id, r.alias_id FROM copied, model JOIN reference r ON r.document_id = model.id
)
SELECT document_uuid FROM copied
"""


def copied_students(database_url: str, documents: int) -> list[UUID]:
    """Ids of this many new students without referrers."""
    unique_ids = [uuid4().hex for _ in range(documents)]
    ids = [referential_id("Ed-Fi", "Student", natural_key([("studentUniqueId", each)])) for each in unique_ids]
    parameters = {"unique_ids": unique_ids, "referential_ids": ids}
    with psycopg.connect(database_url) as connection:
        return [id_ for (id_,) in connection.execute(_COPY_STUDENTS, parameters)]


def remove_rows_of_bare_statement(database_url: str) -> None:
    """Called at the end, before the database is verified."""
    with psycopg.connect(database_url) as connection:
        connection.execute(_REMOVE_ROWS_OF_BARE_STATEMENT)
        connection.execute("DROP SCHEMA IF EXISTS benchmark CASCADE")


def bare_statement(database_url: str, connections: int, seconds: float) -> Measured:
    """The upsert of new associations by pgbench, prepared, one statement per transaction."""
    return _pgbench(_script(database_url), database_url, connections, seconds)


def plain_tables(database_url: str, connections: int, seconds: float) -> Measured:
    """Measure on tables with the columns of the original Meadowlark and primary keys only: the baseline without other
    indexes, triggers and foreign keys.
    """
    parameters = _ASSOCIATION | {
        "resource_type": _resource_type_of_models(database_url),
        "targets": _of_the_model("targets"),
    }
    with psycopg.connect(database_url) as connection:
        connection.execute(_PLAIN_TABLES)
    return _pgbench(_with_a_number(_PLAIN_UPSERT, parameters), database_url, connections, seconds)


def _pgbench(script: str, database_url: str, connections: int, seconds: float) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        file, log = Path(folder, "script.sql"), Path(folder, "log")
        file.write_text(script)
        load = [*_PREPARED, f"--client={connections}", f"--jobs={min(connections, 2)}", f"--time={round(seconds)}"]
        command = [str(binaries() / "pgbench"), *load, "--log", f"--log-prefix={log}", f"--file={file}", database_url]
        output = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=True).stdout
        times = sorted(_milliseconds(log))
    return Measured(
        requests=int(_number(r"actually processed: (\d+)", output)),
        errors=int(_number(r"failed transactions: (\d+)", output)),
        per_second=_number(r"tps = ([\d.]+)", output),
        p50=times[len(times) // 2],
        p99=times[len(times) * 99 // 100],
    )


def _environment() -> dict[str, str]:
    """Forces generic plans. With expressions in place of values PostgreSQL would choose custom plans and plan each
    execution, which it does not do for the server."""
    return {**os.environ, "PGOPTIONS": "-c plan_cache_mode=force_generic_plan"}


def _milliseconds(log: Path) -> Iterator[float]:
    """The duration of each statement: the third column in the log of each job, in microseconds."""
    for file in log.parent.glob(f"{log.name}.*"):
        yield from (int(line.split()[2]) / 1000 for line in file.read_text().splitlines())


def _script(database_url: str) -> str:
    statement = policy_statements.likely_upsert(Outcome.INSERTED, None, has_links=True)
    parameters = _ASSOCIATION | {
        "resource_type": _resource_type_of_models(database_url),
        "aliases": f"ARRAY[{_ASSOCIATION['referential_id']}]",
        "client": "1",
        **dict.fromkeys(Securables._fields, "NULL"),
        "opens_pathway": "true",
        **{name: _of_the_model(name) for name in ("targets", "linked", "organization", "student")},
    }
    return _with_a_number(statement.text, parameters)


def _resource_type_of_models(database_url: str) -> str:
    with psycopg.connect(database_url, autocommit=True) as connection:
        for statement in _MODELS.split(";"):
            found = connection.execute(statement)
        [(resource_type,)] = found.fetchall()
    return f"{resource_type}"


def _of_the_model(column: str) -> str:
    return f"(SELECT {column} FROM benchmark_model WHERE number = 1 + :n::bigint % 500)"


def _with_a_number(statement: str, parameters: Mapping[str, str]) -> str:
    return f"\\set n random(1, 1000000000000000)\n{statement.strip() % parameters};\n"


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    if found is None:
        raise RuntimeError(f"pgbench printed nothing that matches {pattern}: {text}")
    return float(found[1])
