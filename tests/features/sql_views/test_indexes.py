"""Indexes of columns of views: built and dropped by command, and used for conditions on the column."""

import re
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest
from django.core.management import CommandError
from django.db import connection
from django.db.utils import OperationalError

from edfi_api.features.sql_views.management.commands import create_sql_views
from tests.features.sql_views.running import query, run
from tests.whole.concurrency.conftest import SmallSchool

COLUMN = "edfi.classperiod.classperiodname"
VIEWS = ("", "school", "classperiod", "classperiodmeetingtime", "bellschedule")


def indexes() -> list[tuple]:
    return query(
        "SELECT c.relname, obj_description(c.oid), i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " WHERE c.relname ~ '^sql_view_[0-9a-f]{12}$'"
    )


@pytest.fixture
def school(committing_api, documents, resource_named, monkeypatch, current_views) -> Iterator[SmallSchool]:
    few = [each for each in current_views.definitions if each.schema == "edfi" and each.name in VIEWS]
    monkeypatch.setattr(create_sql_views, "current_views", lambda _: replace(current_views, definitions=few))
    documents.store(resource_named("School"))
    yield SmallSchool(committing_api)
    connection.close()
    run("drop_sql_views")
    assert indexes() == []


def plan(statement: str) -> str:
    return "\n".join(line for (line,) in query(f"EXPLAIN (COSTS OFF) {statement}"))


def test_an_index_serves_a_condition_on_its_column_until_it_is_dropped(school) -> None:
    school.post_period("First")
    query(
        "INSERT INTO document (document_uuid, resource_type_id, body, organization)"
        " SELECT gen_random_uuid(), resource_type_id,"
        " body || jsonb_build_object('classPeriodName', 'P' || n), organization"
        " FROM document CROSS JOIN generate_series(1, 500) AS n WHERE body ? 'classPeriodName'"
    )
    output = run("create_sql_views", "--index", COLUMN)
    ((name, column, is_valid),) = indexes()

    assert f"CREATE INDEX CONCURRENTLY {name} ON public.document" in output
    assert "Each write of an indexed resource now maintains these indexes" in output
    assert (column, is_valid) == (COLUMN, True)
    by_name = "SELECT schoolid FROM edfi.classperiod WHERE classperiodname = 'First'"
    assert re.search(rf"(Scan using|Scan on) {name}\b", plan(by_name))
    assert query(by_name) == [(1008,)]
    assert "INDEX" not in run("create_sql_views")
    assert indexes() == [(name, COLUMN, True)]
    assert f"DROP INDEX CONCURRENTLY public.{name};" in run("create_sql_views", "--drop-index", COLUMN)
    assert indexes() == []


REFUSED = {
    "edfi.classperiod.nothing": "there is no column edfi.classperiod.nothing",
    "classperiodname": "there is no column classperiodname",
    "auth.educationorganizationidtostudentusi.studentusi": "there is no column",
    "edfi.classperiodmeetingtime.starttime": "its rows are parts of documents",
    "edfi.student.birthdate": "values of type DATE depend on the session",
    "edfi.student.birthsexdescriptorid": "its values stand in other documents",
    "edfi.studentschoolassociation.studentusi": "its values stand in other documents",
    "edfi.student.aggregatedata": "its values stand in other documents",
}


def test_columns_that_cannot_be_indexed_are_refused_and_nothing_is_created(school) -> None:
    for column, reason in REFUSED.items():
        with pytest.raises(CommandError, match=reason):
            run("create_sql_views", "--index", column)
    with pytest.raises(CommandError, match=rf"there is no index of {COLUMN}"):
        run("create_sql_views", "--drop-index", COLUMN)

    assert query("SELECT count(*) FROM pg_views WHERE schemaname = 'edfi'") == [(0,)]


def test_the_index_of_people_is_there_while_there_are_views(school) -> None:
    is_there = "SELECT to_regclass('document_usi') IS NOT NULL"
    assert query(is_there) == [(False,)]

    assert "CREATE UNIQUE INDEX CONCURRENTLY document_usi" in run("create_sql_views")
    assert query(is_there) == [(True,)]
    assert "INDEX" not in run("create_sql_views")
    assert "DROP INDEX CONCURRENTLY IF EXISTS public.document_usi;" in run("drop_sql_views")
    assert query(is_there) == [(False,)]


def test_a_dry_run_builds_nothing(school) -> None:
    assert "CREATE INDEX CONCURRENTLY" in run("create_sql_views", "--index", COLUMN, "--dry-run")
    assert "CREATE INDEX CONCURRENTLY" in run("create_sql_views", "--index", COLUMN, "--sql")
    assert indexes() == []


def test_an_index_whose_build_was_killed_or_whose_definition_has_changed_is_built_again(school) -> None:
    def kill(execute, statement, *arguments):
        if statement.startswith("COMMENT ON INDEX public.sql_view_"):
            with psycopg.connect(connection.connection.info.dsn, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.connection.info.backend_pid])
        return execute(statement, *arguments)

    with connection.execute_wrapper(kill), pytest.raises(OperationalError):
        run("create_sql_views", "--index", COLUMN)
    connection.close()
    query("CREATE INDEX sql_view_0123456789ab ON document (created_at) WHERE false")
    query(f"COMMENT ON INDEX sql_view_0123456789ab IS '{COLUMN}'")

    output = run("create_sql_views")

    assert output.count("DROP INDEX CONCURRENTLY") == 2
    ((name, column, is_valid),) = indexes()
    assert name != "sql_view_0123456789ab"
    assert (column, is_valid) == (COLUMN, True)
