"""Every index and trigger on the tables of documents has a comment with its purpose, and each index serves a query."""

import re
from pathlib import Path

import pytest
from django.db import DEFAULT_DB_ALIAS, connection

from edfi_api.core.queries.name_index import named_resources

pytestmark = pytest.mark.django_db

TOP = Path(__file__).parents[3]
# Created by SQL of migrations, not by Django's models.
TABLES = sorted(
    table
    for file in [*TOP.glob("edfi_api/**/sql/*.sql"), *TOP.glob("references/sql/*.sql")]
    for table in re.findall(r"^CREATE (?:UNLOGGED )?TABLE (\w+)", file.read_text(), re.MULTILINE)
)

_WITHOUT_REASON = """
SELECT tgname FROM pg_trigger t
 WHERE tgrelid = ANY (%(tables)s::regclass[]) AND NOT tgisinternal AND obj_description(t.oid, 'pg_trigger') IS NULL
 UNION ALL
SELECT indexrelid::regclass::text FROM pg_index i
 WHERE indrelid = ANY (%(tables)s::regclass[]) AND obj_description(indexrelid, 'pg_class') IS NULL
   AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid AND contype IN ('p', 'u'))
"""
_INDEXES = """
SELECT indexrelid::regclass::text FROM pg_index i
 WHERE indrelid = ANY (%(tables)s::regclass[])
   AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid AND contype IN ('p', 'u'))
"""

# Drops all other indexes of the table, so that the plan does not depend on statistics.
_LEFT_ALONE = """
SELECT CASE WHEN conname IS NULL THEN format('DROP INDEX %%s CASCADE', other.indexrelid::regclass)
            ELSE format('ALTER TABLE %%s DROP CONSTRAINT %%I CASCADE', other.indrelid::regclass, conname) END
  FROM pg_index this JOIN pg_index other USING (indrelid)
  LEFT JOIN pg_constraint ON conindid = other.indexrelid AND contype IN ('p', 'u')
 WHERE this.indexrelid = %s::regclass AND other.indexrelid <> this.indexrelid
"""

# A query of the code that each index serves, reduced to the conditions relevant for the index.
SERVED = {
    "alias_document": "SELECT FROM alias WHERE document_id = 7",
    "deleted_document_client": "SELECT FROM deleted_document WHERE deleted_by = 1 ORDER BY change_version DESC LIMIT 9",
    "deleted_document_contact": "SELECT FROM deleted_document WHERE opens_pathway AND contact = 'C1'",
    "deleted_document_day": "SELECT FROM deleted_document WHERE deleted_at BETWEEN '2026-01-01' AND '2026-01-02'",
    "deleted_document_key": "SELECT FROM deleted_document WHERE key_texts(key_values) @> ARRAY['604822']",
    "deleted_document_last_version": (
        "SELECT FROM deleted_document WHERE resource_type_id = 7 AND last_change_version BETWEEN 1 AND 99"
    ),
    "deleted_document_staff": "SELECT FROM deleted_document WHERE opens_pathway AND staff = 'T1'",
    "deleted_document_student": "SELECT FROM deleted_document WHERE opens_pathway AND student = 'S1'",
    "deleted_document_to_purge": "SELECT FROM deleted_document WHERE body IS NOT NULL AND deleted_at < '2026-01-01'",
    "deleted_document_uuid": (
        "SELECT FROM deleted_document WHERE document_uuid = '3f1b5d6e-8c3a-7b1e-9d53-1f0a3c5e7b90'"
    ),
    "deleted_document_version": (
        "SELECT FROM deleted_document WHERE resource_type_id = 7 ORDER BY change_version LIMIT 25"
    ),
    "document_change_version": "SELECT FROM document WHERE resource_type_id = 7 AND change_version BETWEEN 1 AND 99",
    "document_contact": "SELECT FROM document WHERE contact = 'C1' AND student = 'S1'",
    "document_namespace": (
        "SELECT FROM document WHERE resource_type_id = 7 AND namespace IS NOT NULL"
        " AND (namespace, id) >= ('uri://ed-fi.org', 1) AND (namespace, id) <= ('uri://ed-fi.org', 99)"
        " ORDER BY namespace, id LIMIT 25"
    ),
    "document_of_organization": "SELECT FROM document WHERE hierarchy IS NOT NULL AND hierarchy[1] = 11",
    "document_organization": (
        "SELECT FROM document WHERE resource_type_id = 7 AND organization IS NOT NULL"
        " AND (organization, id) >= (11, 1) AND (organization, id) <= (11, 99) ORDER BY organization, id LIMIT 25"
    ),
    "document_creator": "SELECT FROM document WHERE created_by = 1 AND resource_type_id = 7",
    "document_page": "SELECT FROM document WHERE resource_type_id = 7 ORDER BY id LIMIT 25",
    "document_person": "SELECT FROM document WHERE is_person AND student = 'S1' AND contact IS NULL",
    "document_scoped_body": (
        "SELECT FROM document WHERE scoped_body(resource_type_id, body) @> scoped_body(7::smallint, '{\"a\": 1}')"
    ),
    "document_staff": (
        "SELECT FROM document WHERE staff = 'T1' AND resource_type_id = 7 AND opens_pathway AND organization = 11"
    ),
    "document_student": (
        "SELECT FROM document WHERE student = 'S1' AND resource_type_id = 7 AND opens_pathway AND organization = 11"
    ),
    "exchange_sent_document_asked": (
        "SELECT FROM exchange_sent_document WHERE connection = 1 AND is_asked ORDER BY id LIMIT 1"
    ),
    "exchange_sent_document_once": (
        "SELECT FROM exchange_sent_document"
        " WHERE connection = 1 AND document_uuid = '3f1b5d6e-8c3a-7b1e-9d53-1f0a3c5e7b90'"
    ),
    "exchange_sent_document_refused": (
        "SELECT FROM exchange_sent_document WHERE connection = 1 AND refused_at IS NOT NULL ORDER BY id LIMIT 25"
    ),
    "exchange_sent_document_remote": ("SELECT FROM exchange_sent_document WHERE connection = 1 AND remote_id = 'x'"),
    "key_change_contact": "SELECT FROM key_change WHERE opens_pathway AND contact = 'C1'",
    "key_change_staff": "SELECT FROM key_change WHERE opens_pathway AND staff = 'T1'",
    "key_change_student": "SELECT FROM key_change WHERE opens_pathway AND student = 'S1'",
    "organization_closure_upwards": "SELECT FROM organization_closure WHERE descendant_id = 11",
    "reached_document_contact_association": "SELECT FROM reached_document WHERE contact_association_id = 7",
    "reached_document_document": "SELECT FROM reached_document WHERE document_id = 7",
    "reached_document_page": (
        "SELECT FROM reached_document WHERE resource_type_id = 7 AND association_type_id = 8 AND organization = 11"
        " ORDER BY document_id LIMIT 25"
    ),
    "reference_alias": (
        "SELECT FROM reference WHERE alias_id = '3f1b5d6e-8c3a-7b1e-9d53-1f0a3c5e7b90' AND resource_type_id = 7"
    ),
    "refusal_awaited": (
        "SELECT FROM refusal WHERE resolved_at IS NULL AND NOT cause_gone"
        " AND awaited = '3f1b5d6e-8c3a-7b1e-9d53-1f0a3c5e7b90'"
    ),
    "refusal_cause": (
        "SELECT FROM refusal WHERE client = 1 AND cause = '3f1b5d6e-8c3a-7b1e-9d53-1f0a3c5e7b90'"
        " ORDER BY sequence LIMIT 25"
    ),
    "refusal_document": (
        "SELECT FROM refusal WHERE resolved_at IS NULL AND document_uuid = '3f1b5d6e-8c3a-7b1e-9d53-1f0a3c5e7b90'"
    ),
    "refusal_natural_key": "SELECT FROM refusal WHERE client = 1 AND natural_key = 'studentUniqueId=1'",
    "refusal_open": (
        "SELECT FROM refusal WHERE resolved_at IS NULL AND client = 1"
        " AND subject = '3f1b5d6e-8c3a-7b1e-9d53-1f0a3c5e7b90'"
    ),
    "refusal_open_page": "SELECT FROM refusal WHERE resolved_at IS NULL ORDER BY id LIMIT 25",
    "refusal_open_sequence": (
        "SELECT FROM refusal WHERE client = 1 AND resolved_at IS NULL ORDER BY sequence LIMIT 25"
    ),
    "refusal_organization": "SELECT FROM refusal WHERE organization = 255901 ORDER BY id DESC LIMIT 25",
    "refusal_resolved": (
        "SELECT FROM refusal WHERE client = 1 AND resolved_at IS NOT NULL AND resolved_at > '2026-01-01'"
    ),
    "refusal_rules": "SELECT FROM refusal WHERE rules <> '{}' ORDER BY id DESC LIMIT 25",
    "refusal_sequence": "SELECT FROM refusal WHERE client = 1 ORDER BY sequence LIMIT 25",
    "refusal_to_purge": "SELECT FROM refusal WHERE last_at < '2026-01-01'",
    "submission_hour_accepted": "SELECT max(hour) FROM submission_hour WHERE client = 1 AND accepted > 0",
    "submission_hour_client": "SELECT FROM submission_hour WHERE client = 1 ORDER BY hour DESC LIMIT 25",
    "submission_hour_refused": "SELECT max(hour) FROM submission_hour WHERE client = 1 AND refused > 0",
    "superseded_document_to_purge": "SELECT FROM superseded_document WHERE superseded_at < '2026-01-01'",
    "superseded_document_uuid": (
        "SELECT FROM superseded_document WHERE document_uuid = '3f1b5d6e-8c3a-7b1e-9d53-1f0a3c5e7b90'"
        " ORDER BY change_version DESC LIMIT 25"
    ),
    "validation_request_client": "SELECT FROM validation_request WHERE client = 1 ORDER BY requested_at DESC LIMIT 1",
    "validation_request_open": "SELECT FROM validation_request WHERE client = 1 AND ended_at IS NULL",
    "validation_result_appeared": "SELECT FROM validation_result WHERE appeared_at >= '2026-03-02'",
    "validation_result_document": (
        "SELECT FROM validation_result WHERE document_uuid = '3f1b5d6e-8c3a-7b1e-9d53-1f0a3c5e7b90'"
    ),
    "validation_result_first_run": "SELECT FROM validation_result WHERE first_run = 7",
    "validation_result_natural_key": "SELECT FROM validation_result WHERE natural_key = 'x'",
    "validation_result_of_organization": ("SELECT FROM validation_result WHERE organization = 7 ORDER BY id LIMIT 25"),
    "validation_result_of_rule": "SELECT FROM validation_result WHERE rule_id = 7 ORDER BY id LIMIT 25",
    "validation_result_open": "SELECT FROM validation_result WHERE digest = 'x' AND resolved_at IS NULL",
    "validation_result_open_of_rule": "SELECT FROM validation_result WHERE rule_id = 7 AND resolved_at IS NULL",
    "validation_result_organization": (
        "SELECT FROM validation_result WHERE organization = 7 AND resolved_at IS NULL ORDER BY id LIMIT 25"
    ),
    "validation_result_page": "SELECT FROM validation_result WHERE resolved_at IS NULL ORDER BY id LIMIT 25",
    "validation_result_resolved_of_organization": (
        "SELECT FROM validation_result WHERE organization = 7 AND resolved_at IS NOT NULL ORDER BY id LIMIT 25"
    ),
    "validation_result_resolved_page": (
        "SELECT FROM validation_result WHERE resolved_at IS NOT NULL ORDER BY id LIMIT 25"
    ),
    "validation_result_resolved_run": "SELECT FROM validation_result WHERE resolved_run = 7",
    "validation_result_staff": "SELECT FROM validation_result WHERE staff = '7'",
    "validation_result_student": "SELECT FROM validation_result WHERE student = '7'",
    "validation_result_to_purge": "SELECT FROM validation_result WHERE resolved_at < '2026-01-01'",
    "validation_result_version": "SELECT FROM validation_result ORDER BY validation_version LIMIT 25",
}


def _rows(query: str) -> list[str]:
    with connection.cursor() as cursor:
        # A later migration may have dropped one.
        cursor.execute(query, {"tables": sorted({*TABLES} & {*connection.introspection.table_names(cursor)})})
        return [value for (value,) in cursor]


def test_every_index_and_trigger_has_a_comment():
    assert _rows(_WITHOUT_REASON) == []


@pytest.mark.parametrize(
    ("index", "field"),
    [
        ("document_organization", "schoolId"),
        ("document_namespace", "namespace"),
        ("document_student", "studentUniqueId"),
        ("document_contact", "contactUniqueId"),
        ("document_staff", "staffUniqueId"),
    ],
)
def test_an_index_of_a_column_names_the_filters_that_use_it(index, field):
    [reason] = _rows(f"SELECT obj_description('{index}'::regclass, 'pg_class')")

    assert re.search(rf"\bfiltered by .*\b{field}\b", reason)


def test_every_index_has_a_query():
    # That of names has a name of its own in each model; tests/core/queries/test_name_index.py has its query.
    of_names = named_resources().index(DEFAULT_DB_ALIAS).name

    assert sorted([*SERVED, of_names]) == sorted(_rows(_INDEXES))


@pytest.mark.parametrize("index", SERVED)
def test_an_index_serves_its_query_in_its_order(index):
    with connection.cursor() as cursor:
        cursor.execute(_LEFT_ALONE, [index])
        for (statement,) in cursor.fetchall():
            cursor.execute(statement)
        cursor.execute("SET LOCAL enable_seqscan TO off; SET LOCAL enable_sort TO off")
        cursor.execute(f"EXPLAIN {SERVED[index]}")
        plan = "\n".join(line for (line,) in cursor)

    assert re.search(rf"\bon {index}\b|using {index}\b", plan), plan
    assert "Sort" not in plan
    assert set(re.findall(r"Filter: (.*)", plan)) <= {"opens_pathway"}
