"""Views that read from tables: what they show after any writes, beside readers and writers, and when a refresh ends."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest
from django.core.management import CommandError
from django.db import connection
from django.db.utils import OperationalError

from edfi_api.features.changes.change_queries.restoring import restore
from edfi_api.features.sql_views import refreshing
from edfi_api.features.sql_views.changes import ViewsNotInstalled
from edfi_api.features.sql_views.installation import Installation
from edfi_api.features.sql_views.management.commands import create_sql_views
from edfi_api.features.sql_views.refreshing import refresh
from edfi_api.site.observability.metrics import exposition
from tests.conftest import item_path
from tests.features.sql_views.killing import kills
from tests.features.sql_views.running import query, run
from tests.support import superuser
from tests.whole.concurrency.concurrently import in_background
from tests.whole.concurrency.conftest import SCHOOL, SmallSchool

COPIED = ("classperiod", "bellschedule", "bellscheduleclassperiod")
READER = superuser.own_role("reader_of_copies")


@pytest.fixture
def school(committing_api, documents, resource_named, monkeypatch, current_views) -> Iterator[SmallSchool]:
    """A school of which class periods and bell schedules are copies."""
    few = [each for each in current_views.definitions if each.schema == "edfi" and each.name in ("", "school", *COPIED)]
    # To create all views takes seconds.
    monkeypatch.setattr(create_sql_views, "current_views", lambda _: replace(current_views, definitions=few))
    documents.store(resource_named("School"))
    superuser.execute_elsewhere(f"CREATE ROLE {READER}; GRANT {READER} TO {superuser.APPLICATION}")
    run("create_sql_views", "--reader", READER, "--copy", "edfi.classperiod", "--copy", "edfi.bell*")
    yield SmallSchool(committing_api)
    connection.close()
    query("DROP SCHEMA IF EXISTS others CASCADE")
    Installation("default", drops_dependents=True).drop()
    superuser.execute_elsewhere(f"DROP ROLE {READER}")


def differing() -> list[str]:
    """The copies that show other rows than their live views, columns compared as text."""
    return [name for name in COPIED if rows("edfi", name) != rows("edfi_live", name)]


def rows(schema: str, name: str) -> list[tuple]:
    columns = query(f"SELECT attname FROM pg_attribute WHERE attrelid = 'edfi.{name}'::regclass AND attnum > 0")
    listed = ", ".join(f"{column}::text" for (column,) in columns)
    return sorted(query(f"SELECT {listed} FROM {schema}.{name}"), key=str)


def periods(schema: str = "edfi") -> list[str]:
    return [name for (name,) in query(f"SELECT classperiodname FROM {schema}.classperiod ORDER BY 1")]


def is_copy(name: str) -> bool:
    return "edfi_copy" in query(f"SELECT pg_get_viewdef('edfi.{name}'::regclass)")[0][0]


def test_a_copy_shows_the_moment_of_its_refresh(school) -> None:
    school.post_period("First")
    assert (periods(), periods("edfi_live")) == ([], ["First"])

    refreshed = refresh("default")

    assert periods() == ["First"]
    assert (refreshed.copies, refreshed.rows, refreshed.built) == (3, 1, [])
    assert "3 tables are at change version " in run("refresh_sql_views")


def test_after_any_writes_copies_are_what_the_live_views_are(school) -> None:
    choice = random.Random(7)  # noqa: S311  for tests
    paths, deleted, done = {"Begin": item_path(school.post_period("Begin"))}, [], Counter()
    for number in range(60):
        name = choice.choice(sorted(paths))
        match choice.choice(["post", "post", "rename", "change", "delete", "restore", "schedule", "refresh"]):
            case "post":
                paths[f"P{number}"] = item_path(school.post_period(f"P{number}"))
            case "rename":
                assert school.put_period(paths[name], f"R{number}").status_code == 204
                paths[f"R{number}"] = paths.pop(name)
            case "change":
                official = {"officialAttendancePeriod": choice.random() < 0.5}
                times = [{"startTime": f"0{n}:00:00", "endTime": f"0{n}:30:00"} for n in range(choice.randint(0, 3))]
                assert school.put_period(paths[name], name, **official, meetingTimes=times).status_code == 204
            case "delete" if len(paths) > 1 and school.api.delete(paths[name]).status_code == 204:
                deleted.append((name, paths.pop(name)))
                done["delete"] += 1
            case "restore" if deleted:
                name, paths[name] = deleted.pop()
                restore(paths[name].rsplit("/", 1)[1])
                done["restore"] += 1
            case "schedule":
                assert school.post_schedule(f"S{number}", name).status_code == 201
            case "refresh":
                refresh("default")
                assert differing() == []
                done["refresh"] += 1
    refresh("default")

    assert differing() == []
    assert min(done[what] for what in ("delete", "restore", "refresh")) > 1
    assert len(rows("edfi", "bellscheduleclassperiod")) > 1


def test_what_is_committed_late_is_found_by_a_later_refresh(school) -> None:
    """Its version is lower than that of what the table has already."""
    late = connection.copy()
    try:
        with late.cursor() as cursor:
            cursor.execute("BEGIN")
            school.post_period("Early")
            cursor.execute(
                "UPDATE document SET body = jsonb_set(body, '{classPeriodName}', '\"Late\"')"
                " WHERE body->>'classPeriodName' = 'Early'"
            )
            school.post_period("Between")
            refresh("default")
            assert periods() == ["Between", "Early"]
            cursor.execute("COMMIT")
    finally:
        late.close()

    refresh("default")

    assert periods() == ["Between", "Late"]


def test_all_copies_show_one_moment_whatever_is_written_meanwhile(school) -> None:
    """A key changes, with what refers to it, before each statement of the refresh."""
    path = item_path(school.post_period("N0"))
    school.post_schedule("Daily", "N0")
    numbers = iter(range(1, 1000))

    def change(execute, *arguments):
        def put() -> int:
            return school.put_period(path, f"N{next(numbers)}").status_code

        assert in_background(put).result(30) == 204
        return execute(*arguments)

    for _ in range(3):
        with connection.execute_wrapper(change):
            refresh("default")
        shown = [name for (name,) in query("SELECT classperiodname FROM edfi.bellscheduleclassperiod")]
        assert shown == periods()
    assert next(numbers) > 20
    refresh("default")
    assert differing() == []


def test_a_refresh_that_is_killed_leaves_the_old_rows(school, monkeypatch) -> None:
    school.post_period("First")
    school.post_schedule("Daily", "First")
    refresh("default")
    school.post_period("Second")
    monkeypatch.setattr(refreshing, "_FEW", 0)  # so that a table is built and swapped, too

    count = kills(lambda: refresh("default"), lambda: [rows("edfi", name) for name in COPIED], every=2)

    connection.close()
    assert count > 10
    assert periods() == ["First", "Second"]
    assert differing() == []


def test_a_creation_of_copies_that_is_killed_leaves_live_views_or_copies(school) -> None:
    school.post_period("First")
    run("create_sql_views", "--no-copy")
    assert not is_copy("classperiod")

    count = kills(lambda: run("create_sql_views", "--copy", "edfi.class*"), periods, every=5)
    connection.close()
    run("create_sql_views", "--copy", "edfi.class*")

    assert count > 5
    assert is_copy("classperiod")
    assert periods() == periods("edfi_live") == ["First"]


def test_a_table_that_has_changed_a_lot_is_built_again_and_swapped(school, monkeypatch) -> None:
    monkeypatch.setattr(refreshing, "_FEW", 1)
    school.post_period("First")
    refresh("default")
    table = query("SELECT 'edfi_copy.classperiod'::regclass::oid")
    school.post_period("Second")
    school.post_period("Third")

    refreshed = refresh("default")

    assert refreshed.built == ["edfi.classperiod"]
    assert query("SELECT 'edfi_copy.classperiod'::regclass::oid") != table
    tables = (
        "SELECT relname FROM pg_class WHERE relnamespace = 'edfi_copy'::regnamespace AND relkind = 'r' ORDER BY relname"
    )
    assert query(tables) == [
        ("bellschedule",),
        ("bellscheduleclassperiod",),
        ("classperiod",),
    ]
    assert periods() == ["First", "Second", "Third"]


def test_readers_are_neither_blocked_nor_disturbed_by_a_swap(school, monkeypatch) -> None:
    monkeypatch.setattr(refreshing, "_FEW", 0)
    monkeypatch.setattr(refreshing, "_SWAP_ATTEMPTS", 2)
    school.post_period("First")
    with psycopg.connect(connection.connection.info.dsn) as reader:
        assert reader.execute("SELECT count(*) FROM edfi.classperiod").fetchone() == (0,)

        with pytest.raises(ViewsNotInstalled, match="tables are being read and cannot be swapped") as refused:
            refresh("default")

        assert "AccessShareLock on edfi" in refused.value.args[1]
        assert reader.execute("SELECT count(*) FROM edfi.classperiod").fetchone() == (0,)
        reader.commit()
        refresh("default")
        assert reader.execute("SELECT count(*) FROM edfi.classperiod").fetchone() == (1,)


def test_two_refreshes_at_once_are_refused(school) -> None:
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(hashtextextended('meadowlark sql_view', 0))")
            with pytest.raises(CommandError, match="another command creates or refreshes SQL views"):
                run("refresh_sql_views")
            cursor.execute("SELECT pg_advisory_unlock(hashtextextended('meadowlark sql_view', 0))")
    finally:
        other.close()

    assert "3 tables" in run("refresh_sql_views")


def test_the_reader_reads_the_views_and_not_the_tables(school) -> None:
    def denied(statement: str) -> str:
        with psycopg.connect(connection.connection.info.dsn) as reader:
            reader.execute(f"SET ROLE {READER}")
            try:
                reader.execute(statement)
            except psycopg.Error as error:
                return str(error)
        return ""

    assert denied("SELECT * FROM edfi.classperiod, edfi_live.classperiod, edfi.school") == ""
    assert "permission denied for schema edfi_copy" in denied("SELECT * FROM edfi_copy.classperiod")
    with pytest.raises(OperationalError, match="cannot delete from view"):
        query("DELETE FROM edfi.classperiod")


def test_what_others_have_built_on_a_view_survives_copies_and_their_end(school) -> None:
    query("CREATE SCHEMA others")
    query("CREATE VIEW others.names AS SELECT classperiodname FROM edfi.classperiod")
    school.post_period("First")

    refresh("default")
    assert query("TABLE others.names") == [("First",)]
    output = run("create_sql_views", "--no-copy")

    assert "3 dropped: edfi_copy.bellschedule, edfi_copy.bellscheduleclassperiod, edfi_copy.classperiod" in output
    school.post_period("Second")
    assert query("TABLE others.names") == [("First",), ("Second",)]
    assert query("SELECT nspname FROM pg_namespace WHERE nspname ~ '^edfi'") == [("edfi",)]
    with pytest.raises(CommandError, match="no view is a copy"):
        run("refresh_sql_views")


def test_views_that_others_have_built_on_a_live_view_are_not_dropped(school) -> None:
    query("CREATE SCHEMA others")
    query("CREATE VIEW others.names AS SELECT classperiodname FROM edfi_live.classperiod")

    with pytest.raises(CommandError, match=r"view others\.names of "):
        run("create_sql_views", "--no-copy")

    assert is_copy("classperiod")


def test_objects_of_others_in_the_schemas_of_copies_are_not_touched(school) -> None:
    query("CREATE TABLE edfi_copy.school (mine int)")

    with pytest.raises(CommandError, match=r"edfi_copy\.school exists already, and is not a copy"):
        run("create_sql_views", "--copy", "edfi.school")
    run("create_sql_views", "--no-copy")

    assert query("SELECT mine FROM edfi_copy.school") == []
    query("DROP SCHEMA edfi_copy CASCADE")


def test_copies_stay_when_the_command_is_run_without_the_option_and_are_built_again_when_the_view_changes(
    school,
) -> None:
    run("create_sql_views")
    assert is_copy("classperiod")

    query("UPDATE sql_copy SET digest = 'of another model' WHERE name = 'classperiod'")
    query("UPDATE sql_view SET digest = 'of another model' WHERE name = 'classperiod'")
    output = run("create_sql_views")

    assert "built: edfi.classperiod" in output
    assert is_copy("classperiod")


def test_a_table_whose_rows_the_primary_key_refuses_is_filled_without_it(school) -> None:
    school.post_period("First")
    query("UPDATE sql_copy SET primary_key = '{endtime}', change_version = NULL WHERE name = 'bellschedule'")
    school.post_schedule("Daily", "First")

    output = run("refresh_sql_views")

    assert output.endswith("without a primary key, since rows have no value or the same: edfi.bellschedule\n")
    assert differing() == []


def test_a_pattern_that_matches_nothing_is_refused(school) -> None:
    with pytest.raises(CommandError, match=r"no view that can be copied is called edfi\.nothing, auth\.\*"):
        run("create_sql_views", "--copy", "edfi.nothing", "--copy", "auth.*", "--copy", "edfi.*")


def test_the_age_of_the_copies_is_a_metric(school) -> None:
    query("UPDATE sql_copy SET refreshed_at = now() - interval '1 hour' WHERE name = 'classperiod'")

    (line,) = (line for line in exposition().decode().splitlines() if line.startswith("meadowlark_sql_copy_age"))

    assert 3600 <= float(line.rpartition(" ")[2]) < 3700


def test_school_is_numbered_as_the_views_show_it(school) -> None:
    assert query("SELECT schoolid FROM edfi.school") == [(SCHOOL,)]
