"""What it costs to resolve entries: a row for each write, however many entries are open."""

import time
import uuid

import orjson
from django.db import connection

from edfi_api.features.refusals.ledger import Ledger, Resolving
from tests.support import superuser
from tests.support.plans import nodes

ROWS = 1000
OPEN_ENTRIES = """
INSERT INTO refusal (
    id, client, data_store, resource, subject, has_identity, operation, is_batch, is_summary, status, problem, title,
    paths, errors, cause, cause_text, awaited_resource, correlation_id, first_at, last_at, count, sequence
)
SELECT gen_random_uuid(), 1, 0, '/ed-fi/students', gen_random_uuid(), true, 'upsert', false, false, 400, 'bad-request',
       'Bad Request', '{}', '[]', gen_random_uuid(), 'cause', '', 'id', now(), now(), 1, nextval('refusal_change')
  FROM generate_series(1, %s)
"""
# PostgreSQL has not analyzed the entries yet, and estimates a few.
AS_IN_A_NEW_DATABASE = """
TRUNCATE refusal;
UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid = 'refusal'::regclass;
DELETE FROM pg_statistic WHERE starelid = 'refusal'::regclass
"""


def test_no_accepted_write_is_compared_with_each_open_entry(db):
    plans = []

    def explained(execute, sql, parameters, many, context):
        execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}", parameters, many, context)
        [(found,)] = context["cursor"].fetchall()
        plans.append((orjson.loads(found) if isinstance(found, str) else found)[0]["Plan"])

    with connection.cursor() as cursor:
        superuser.execute(AS_IN_A_NEW_DATABASE)
        cursor.execute(OPEN_ENTRIES, [ROWS])
    with connection.execute_wrapper(explained):
        Ledger(connection).resolve([Resolving(1, 0, uuid.uuid4(), time.time(), is_delete=False) for _ in range(ROWS)])

    [plan] = plans
    assert sum(node.get("Rows Removed by Join Filter", 0) * node["Actual Loops"] for node in nodes(plan)) <= ROWS
