"""The commands that create, check and drop the views, and who may read them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.utils import ProgrammingError

from edfi_api.features.sql_views import current
from edfi_api.features.sql_views.changes import ViewsNotInstalled
from edfi_api.features.sql_views.checks import sql_views_are_up_to_date
from edfi_api.features.sql_views.definitions import definitions
from edfi_api.features.sql_views.installation import Installation
from edfi_api.features.sql_views.views import View
from tests.features.sql_views.running import query, refusal, run
from tests.support import superuser

pytestmark = pytest.mark.django_db

READER = superuser.own_role("sql_view_reader")


def relations() -> dict[str, int]:
    """How many views each schema has, but for PostgreSQL's own."""
    rows = query(
        "SELECT n.nspname, count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE relkind = 'v'"
        " AND nspname NOT IN ('public', 'pg_catalog', 'information_schema') GROUP BY 1"
    )
    return dict(rows)


@pytest.fixture(scope="module")
def created(django_db_setup, django_db_blocker) -> Iterator[None]:
    """The views of the configured standard and a role that may read them, in a transaction that is rolled back."""
    with django_db_blocker.unblock(), transaction.atomic():
        superuser.execute(f"CREATE ROLE {READER}; GRANT {READER} TO {superuser.APPLICATION}")
        run("create_sql_views", "--reader", READER)
        yield
        transaction.set_rollback(True)


@pytest.fixture
def views(created, db) -> None:
    """What a test does to them is undone."""


def denied(statement: str) -> str:
    """The message with which the reader is refused; empty if it is not."""
    return refusal(f"ROLE {READER}", statement)


def test_every_table_has_a_view(views) -> None:
    assert relations() == {"edfi": 613, "edfi_text": 303, "auth": 5}
    assert query("SELECT util.getedfistandardversion(), util.getedfiodsversion()") == [("5.2", "7.3")]
    assert query("SELECT obj_description('edfi.studentschoolassociation'::regclass)")[0][0].endswith(
        "Primary key: entrydate, schoolid, studentusi"
    )


def test_what_the_database_says_of_the_columns_is_what_the_model_says(views) -> None:
    """Three columns, the unique ids of people, are without their length."""
    expected = {
        (str(view), name): column.type.lower()
        for view in current_views()
        if view.table and not view.texts
        for (name, _), column in zip(view.columns, view.table.columns, strict=True)
    }
    shown = query(
        "SELECT n.nspname || '.' || c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_class c"
        " JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0"
        " WHERE n.nspname = 'edfi' ORDER BY c.oid, a.attnum"
    )
    names = {"character varying": "varchar", "timestamp without time zone": "timestamp", "integer": "int"}
    names["time without time zone"] = "time"
    types = {(view, column): re.sub("|".join(names), lambda m: names[m[0]], type_) for view, column, type_ in shown}

    differing = {key: (types[key], expected[key]) for key in expected if types[key] != expected[key]}

    assert len(types) == 4156
    assert differing == {
        ("edfi.contact", "contactuniqueid"): ("varchar", "varchar(32)"),
        ("edfi.staff", "staffuniqueid"): ("varchar", "varchar(32)"),
        ("edfi.student", "studentuniqueid"): ("varchar", "varchar(32)"),
    }


def test_the_command_again_changes_nothing(views) -> None:
    before = query("SELECT oid, xmin FROM pg_class WHERE relkind = 'v' ORDER BY 1")

    output = run("create_sql_views")

    assert output == "927 up to date\n"
    assert query("SELECT oid, xmin FROM pg_class WHERE relkind = 'v' ORDER BY 1") == before


def test_check_sql_views_reads_all_views_and_finds_what_is_wrong(views) -> None:
    query("DROP VIEW edfi.bellschedule")
    query("CREATE OR REPLACE VIEW edfi.schoolyeartype AS SELECT *, 1 AS further FROM edfi.schoolyeartype")
    errors = StringIO()

    with pytest.raises(CommandError, match="2 problem"):
        call_command("check_sql_views", stderr=errors)

    assert errors.getvalue().startswith("edfi.bellschedule is not there\nedfi.schoolyeartype has other columns")


def test_a_dry_run_changes_nothing(views) -> None:
    run("drop_sql_views", "--schema", "auth")

    output = run("create_sql_views", "--schema", "auth", "--dry-run")
    statements = run("create_sql_views", "--schema", "auth", "--sql")

    assert output.startswith("6 would be created: auth, auth.educationorganizationidtoeducationorganizationid, ")
    assert 'CREATE OR REPLACE VIEW "auth".educationorganizationidtostaffusi AS\nSELECT DISTINCT' in statements
    assert relations() == {"edfi": 613, "edfi_text": 303}
    assert query("SELECT count(*) FROM sql_view WHERE schema = 'auth'") == [(0,)]


def test_what_is_dropped_is_what_was_created(views) -> None:
    query("CREATE VIEW auth.of_mine AS SELECT 1 AS one, 2 AS two")

    run("drop_sql_views", "--schema", "auth")

    assert relations() == {"edfi": 613, "edfi_text": 303, "auth": 1}
    assert query("SELECT one FROM auth.of_mine") == [(1,)]


def test_a_schema_that_is_not_there_is_refused(views) -> None:
    with pytest.raises(CommandError, match="there is no schema tpdm"):
        run("create_sql_views", "--schema", "tpdm")


def test_schemas_with_tables_of_others_are_refused(views) -> None:
    run("drop_sql_views", "--schema", "auth")
    query("CREATE SCHEMA auth")
    query("CREATE TABLE auth.mine (one int)")

    with pytest.raises(CommandError, match=r"the schemas have objects of others:\nauth\.mine"):
        run("create_sql_views")

    assert relations() == {"edfi": 613, "edfi_text": 303}


@cache
def current_views() -> list[View]:
    return current.current_views("default").views


def installed_again(views: list[View], **options: bool) -> None:
    """Another model's views in place of these."""
    surface = current.current_surface()
    Installation("default", **options).install(definitions(views, surface), "another")


def changed(name: str, *, more: bool) -> list[View]:
    """The views, this one with a column more, or with a column of another type."""
    views = current_views()
    view = next(view for view in views if str(view) == name)
    columns = (*view.columns, ("further", "1")) if more else (view.columns[0], *view.columns[2:])
    other = View(view.schema, view.name, columns, view.source)
    return [other if each is view else each for each in views]


def test_views_of_others_survive_a_further_column(views) -> None:
    query("CREATE VIEW public.mine AS SELECT schoolid FROM edfi.school")

    installed_again(changed("edfi.school", more=True))

    assert query("SELECT * FROM public.mine") == []
    assert query("SELECT further FROM edfi.school") == []


def test_views_of_others_stop_a_change_of_columns_unless_they_may_go(views) -> None:
    query("CREATE VIEW public.mine AS SELECT schoolid FROM edfi.school")
    query("CREATE MATERIALIZED VIEW public.yours AS SELECT * FROM public.mine")
    query(
        "CREATE FUNCTION public.theirs() RETURNS bigint LANGUAGE sql RETURN (SELECT count(schoolid) FROM edfi.school)"
    )
    views_now = changed("edfi.school", more=False)

    with pytest.raises(ViewsNotInstalled) as refused:
        installed_again(views_now)

    owner = query("SELECT current_user")[0][0]
    assert refused.value.args == (
        "others have built on views that have to be dropped, since their columns change (edfi.school):",
        f"function theirs() of {owner}",
        f"materialized view yours of {owner}",
        f"view mine of {owner}",
        "--drop-dependents drops them too",
    )
    assert query("SELECT count(*) FROM pg_matviews") == [(1,)]

    installed_again(views_now, drops_dependents=True)

    assert query("SELECT count(*) FROM pg_matviews") == [(0,)]
    assert denied("SELECT * FROM edfi.school") == ""


def test_views_that_the_model_no_longer_has_are_dropped(views) -> None:
    rest = [view for view in current_views() if view.name != "bellschedule"]

    installed_again(rest)

    assert relations() == {"edfi": 612, "edfi_text": 303, "auth": 5}


def test_a_run_that_ends_in_the_middle_leaves_the_old_views(views) -> None:
    before = query("SELECT oid, xmin FROM pg_class WHERE relkind = 'v' ORDER BY 1")
    views_now = changed("edfi.student", more=True)
    broken = View("edfi", "zzz", (("one", "1"),), "FROM nowhere_at_all")

    with pytest.raises(ProgrammingError, match="nowhere_at_all"):
        installed_again([*views_now, broken])

    assert query("SELECT oid, xmin FROM pg_class WHERE relkind = 'v' ORDER BY 1") == before


def test_a_read_only_database_is_refused(views) -> None:
    with transaction.atomic(), pytest.raises(CommandError, match="views reach a replica from its primary"):
        query("SET TRANSACTION READ ONLY")
        run("drop_sql_views", "--schema", "auth")


def test_views_that_another_version_creates_alike_are_up_to_date_again(views) -> None:
    query("UPDATE sql_view SET digest = 'of another version' WHERE schema = ''")
    assert len(sql_views_are_up_to_date(["default"])) == 1

    run("create_sql_views", "--schema", "auth")
    assert len(sql_views_are_up_to_date(["default"])) == 1

    run("create_sql_views")
    assert sql_views_are_up_to_date(["default"]) == []


def test_the_system_check_finds_views_of_another_model(views) -> None:
    assert sql_views_are_up_to_date(["default"]) == []

    installed_again(changed("edfi.school", more=True))

    (warning,) = sql_views_are_up_to_date(["default"])
    assert warning.id == "edfi_api.W006"
    assert "create_sql_views brings them in line" in warning.msg


def test_an_unknown_reader_is_refused(views) -> None:
    with pytest.raises(CommandError, match="there is no role nobody_at_all; --create-reader nobody_at_all makes one"):
        run("create_sql_views", "--reader", "nobody_at_all")


def test_a_reader_is_made_with_an_address_and_reads_nothing_but_views(views) -> None:
    output = run("create_sql_views", "--create-reader", "new analyst")

    [address] = re.findall(r"^postgresql://new%20analyst:(\S{24})@\S*/\S+$", output, flags=re.MULTILINE)
    settings = query("SELECT rolconfig, rolcanlogin, rolsuper FROM pg_roles WHERE rolname = 'new analyst'")
    query('GRANT "new analyst" TO CURRENT_USER')

    assert address
    assert settings[0][1:] == (True, False)
    assert {"default_transaction_read_only=on", "enable_nestloop=off"} <= set(settings[0][0])
    assert refusal('ROLE "new analyst"', "SELECT count(*) FROM edfi_text.school") == ""
    assert "permission denied" in refusal('ROLE "new analyst"', "SELECT * FROM public.document")
    with pytest.raises(CommandError, match="there is a role new analyst already; --reader"):
        run("create_sql_views", "--create-reader", "new analyst")


def test_who_may_not_create_roles_is_told_what_to_have_executed(views) -> None:
    superuser.execute(f"ALTER ROLE {superuser.APPLICATION} NOCREATEROLE")

    with pytest.raises(CommandError) as refused:
        run("create_sql_views", "--create-reader", "analyst")

    assert "roles may not be created from here" in str(refused.value)
    assert """CREATE ROLE "analyst" LOGIN CONNECTION LIMIT 10 PASSWORD 'SCRAM-SHA-256$""" in str(refused.value)
    assert "enable_nestloop = 'off'" in str(refused.value)


def test_a_standard_in_an_api_schema_file_is_refused(views, settings, tmp_path: Path) -> None:
    file = tmp_path / "ApiSchema.json"
    file.write_text("{}")
    settings.EDFI_API = {**settings.EDFI_API, "DATA_STANDARD": str(file)}

    with pytest.raises(CommandError, match=r"ApiSchema\.json is an ApiSchema file.* need the MetaEd text"):
        run("create_sql_views")


def test_resource_types_that_are_missing_are_named(views) -> None:
    query("UPDATE resource_type SET name = 'Pupil' WHERE name = 'Student'")

    with pytest.raises(CommandError, match="the database has no resource types for Student: run migrate"):
        run("create_sql_views")


def test_row_numbers_that_will_exceed_the_columns_are_warned_of(views, documents, resource_named) -> None:
    """From half of what 32 bits hold."""
    documents.store(resource_named("Student"))
    assert "32 bits" not in run("create_sql_views", "--schema", "util")

    query("ALTER TABLE document ALTER COLUMN id RESTART WITH 1073741824")
    documents.store(resource_named("Staff"))

    assert "The newest document is row 1,073,741,824; beyond 2,147,483,647 views" in run(
        "create_sql_views", "--schema", "util"
    )


def test_functions_run_with_the_rights_of_the_reader(views) -> None:
    """Those with the rights of their owner could change something for it."""
    executable = query(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef"
        " AND has_function_privilege(%s, oid, 'EXECUTE')",
        READER,
    )

    assert executable == []


def test_the_reader_reads_every_view_and_no_table(views) -> None:
    assert denied("SELECT count(*) FROM edfi.studentschoolassociation") == ""
    assert denied("SELECT * FROM auth.educationorganizationidtostudentusi") == ""
    rows = query(
        "SELECT format('public.%I', relname) FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'S', 'm', 'p')"
    )
    tables = [name for (name,) in rows]
    assert len(tables) > 20
    assert {name for name in tables if "permission denied" not in denied(f"TABLE {name}")} == set()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE edfi.x (y int)",
        "CREATE TABLE public.x (y int)",
        "CREATE SCHEMA x",
        "SELECT public.next_change_version()",
        "SELECT setval('public.change_version', 1)",
    ],
)
def test_the_reader_changes_nothing(views, statement: str) -> None:
    assert "permission denied" in denied(statement)


def test_no_view_can_be_written_by_its_owner(views) -> None:
    writable = query(
        "SELECT table_schema || '.' || table_name FROM information_schema.views WHERE table_schema IN ('edfi', 'auth')"
        " AND 'YES' IN (is_updatable, is_insertable_into)"
    )

    assert writable == []
    for statement in (
        "DELETE FROM edfi.student",
        "INSERT INTO edfi.student (firstname) VALUES ('x')",
        "UPDATE edfi.student SET firstname = 'x'",
        "MERGE INTO edfi.student s USING (SELECT 1) o ON true WHEN MATCHED THEN DELETE",
        "TRUNCATE edfi.student",
    ):
        with pytest.raises(Exception, match=r"view|not a table"), transaction.atomic():
            query(statement)
