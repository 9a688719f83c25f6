"""The triggers and functions that a write runs in PostgreSQL, with their number of calls, and the triggers by which
processes notice that tables have changed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from edfi_api.core.models import Document
from tests.conftest import ApiTestClient
from tests.support import superuser
from tests.support.factories import DocumentFactory

pytestmark = pytest.mark.django_db

_INSERT_ASSOCIATIONS = """
INSERT INTO document (document_uuid, resource_type_id, body, organization, student, opens_pathway)
SELECT gen_random_uuid(), (SELECT min(id) FROM resource_type), '{}', 11, 'S' || number, true
  FROM generate_series(1, 50) AS number
"""
# Tables whose changes processes notice by a number, and how many of them `TRUNCATE ... CASCADE` empties.
_NOTICED = {
    ("api_client_data_store", "data_stores_version"): 1,
    ("data_store", "data_stores_version"): 4,
    ("data_store_context", "data_stores_version"): 1,
    ("data_store_derivative", "data_stores_version"): 1,
    ("tenant", "data_stores_version"): 5,
    ("profiles_profile", "claims_version"): 2,
    ("profiles_profileassignment", "claims_version"): 1,
    ("security_claimset", "claims_version"): 4,
    ("security_defaultstrategies", "claims_version"): 1,
    ("security_grant", "claims_version"): 2,
    ("security_overridingstrategies", "claims_version"): 1,
    ("security_resourceclaim", "claims_version"): 4,
}


def _explained(statement: str, *parameters: object) -> Mapping[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
        [[explained]] = cursor.fetchone()
    return explained


def _calls(statement: str, *parameters: object) -> dict[str, int]:
    """Calls by name of trigger, without those of constraints."""
    return {
        trigger["Trigger Name"]: trigger["Calls"]
        for trigger in _explained(statement, *parameters)["Triggers"]
        if "Constraint Name" not in trigger
    }


@contextmanager
def _counted_calls() -> Iterator[dict[str, int]]:
    """Filled with the functions that statements call during the block, with their number of calls."""
    calls: dict[str, int] = {}
    with connection.cursor() as cursor:
        superuser.execute("SET LOCAL track_functions TO 'all'")
        yield calls
        cursor.execute("SELECT funcname, calls FROM pg_stat_xact_user_functions")
        calls.update(cursor.fetchall())


def _functions_of_triggers() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT proname FROM pg_proc WHERE prorettype = 'trigger'::regtype")
        return {name for (name,) in cursor}


@pytest.fixture
def association(documents: DocumentFactory, resource_named) -> Document:
    documents.store(resource_named("StudentSchoolAssociation"))
    return Document.objects.get(resource_type__name="StudentSchoolAssociation")


def test_the_paths_of_many_new_documents_are_added_at_once():
    assert _calls(_INSERT_ASSOCIATIONS) == {"document_joins_paths": 1}


def test_a_delete_of_an_association_removes_its_paths(association):
    calls = _calls("DELETE FROM document WHERE id = %s", association.pk)

    assert calls == {"document_is_deleted": 1, "document_leaves_paths": 1}


def test_a_delete_of_a_person_locks_no_people_and_computes_no_paths(association):
    student = Document.objects.get(resource_type__name="Student")
    association.delete()

    calls = _calls("DELETE FROM document WHERE id = %s", student.pk)

    assert calls == {"document_is_deleted": 1, "document_of_person_leaves_paths": 1}


def test_an_update_without_changed_securables_computes_no_paths(association):
    calls = _calls(
        "UPDATE document SET body = body || '{\"primarySchool\": true}', organization = organization WHERE id = %s",
        association.pk,
    )

    assert calls == {"document_is_superseded": 1}


def test_the_indexed_body_is_computed_without_a_call_of_an_sql_function(association):
    """`scoped_body` is inlined in condition and index; otherwise the index would not serve the condition."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan TO off")
        cursor.execute(
            "EXPLAIN SELECT FROM document WHERE scoped_body(resource_type_id, body) @> scoped_body(%s::smallint, '{}')",
            [association.resource_type_id],
        )
        plan = "\n".join(line for (line,) in cursor)

    assert "Bitmap Index Scan on document_scoped_body" in plan
    assert "scoped_body(" not in plan


def test_the_indexed_body_is_scoped_by_resource_type(association):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT scoped_body(266::smallint, '{\"a\": [1, null]}'), scoped_body(266::smallint, 'null') ->> '266',"
            " scoped_body(-1::smallint, '{}')::text"
        )
        assert cursor.fetchone() == ('{"266": {"a": [1, null]}}', None, '{"-1": {}}')


def test_a_repeated_change_runs_the_trigger_of_versions_only(
    api: ApiTestClient, documents: DocumentFactory, resource_named
) -> None:
    course = resource_named("Course")
    documents.store_targets(course, documents.minimal_body(course))
    for title in ("first", "second", "third"):
        api.post("/courses", documents.minimal_body(course, courseTitle=title))

    with _counted_calls() as calls:
        assert api.post("/courses", documents.minimal_body(course, courseTitle="fourth")).status_code == 200

    assert [name for name in calls if name in _functions_of_triggers()] == ["supersede_document"]


def test_the_paths_of_one_association_are_added_without_arrays_of_documents(
    api: ApiTestClient, documents: DocumentFactory, resource_named
) -> None:
    resource = resource_named("StudentSchoolAssociation")
    documents.store(resource)
    association = documents.minimal_body(resource)

    with _counted_calls() as calls:
        assert api.post("/studentSchoolAssociations", association | {"entryDate": "2031-01-01"}).status_code == 201

    assert calls["add_paths_of_student"] == 1
    assert "add_paths" not in calls


def _version(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT version FROM {table}")
        return cursor.fetchone()[0]


@pytest.mark.parametrize(("table", "version"), _NOTICED)
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO {} TABLE {} LIMIT 0",
        "UPDATE {} SET id = id WHERE false",
        "DELETE FROM {} WHERE false",
    ],
)
def test_each_statement_that_may_change_a_noticed_table_is_counted(statement: str, table: str, version: str) -> None:
    before = _version(version)

    with connection.cursor() as cursor:
        cursor.execute(statement.replace("{}", table))

    assert _version(version) == before + 1


@pytest.mark.parametrize(("table", "version"), _NOTICED)
def test_a_noticed_table_that_is_emptied_is_counted(table: str, version: str) -> None:
    before = _version(version)

    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {table} CASCADE")

    assert _version(version) == before + _NOTICED[table, version]
