"""Views that show each reader the rows of its organizations: the same as to an API client, and nothing by any trick."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection, transaction

from edfi_api.features.sql_views import refreshing, row_filter
from edfi_api.features.sql_views.changes import ViewsNotInstalled
from edfi_api.features.sql_views.copies import Copying
from edfi_api.features.sql_views.current import CurrentViews
from edfi_api.features.sql_views.installation import Installation
from edfi_api.features.sql_views.row_filter import RowFilter
from tests.core.security.strategies.scenario import EO, Scenario
from tests.features.sql_views.running import query, refusal
from tests.support import superuser

PEOPLE = "RelationshipsWithPeopleOnly"
# What decides about the documents of the scenario: their organization, the people they are about, or nothing.
RESOURCES = {
    "Calendar": EO,
    "Contact": PEOPLE,
    "LocalEducationAgency": EO,
    "School": EO,
    "Staff": PEOPLE,
    "StaffEducationOrganizationAssignmentAssociation": EO,
    "StaffEducationOrganizationEmploymentAssociation": EO,
    "StaffLeave": PEOPLE,
    "Student": PEOPLE,
    "StudentContactAssociation": PEOPLE,
    "StudentEducationOrganizationResponsibilityAssociation": EO,
    "StudentAssessment": PEOPLE,
    "StudentSchoolAssociation": EO,
    "Survey": "",
}
# Reader → its organizations; None stands for everything.
READERS: dict[str, tuple[int | None, ...]] = {
    "reads_district_1": (1,),
    "reads_school_11": (11,),
    "reads_school_12": (12,),
    "reads_school_21": (21,),
    "reads_two": (12, 21),
    "reads_nowhere": (4711,),
    "reads_everything": (None,),
    "is_not_listed": (),
}


@contextmanager
def logged_in(role: str) -> Iterator[None]:
    query(f"SET SESSION AUTHORIZATION {role}")
    try:
        yield
    finally:
        query("RESET SESSION AUTHORIZATION")


def refused(role: str, statement: str) -> str:
    """Why the role cannot run it; empty if it can."""
    return refusal(f"SESSION AUTHORIZATION {role}", statement)


def fill(scenario: Scenario) -> None:
    """Two districts with three schools, and people of each, of several, and of none."""
    scenario.district(1)
    scenario.district(2)
    for school, district in ((11, 1), (12, 1), (21, 2)):
        scenario.school(school, district)
        scenario.calendar(f"C{school}", school)
    scenario.people("ABCDE", "KLMN", "STUV")
    for student, school in (("A", 11), ("B", 12), ("C", 21), ("D", 11), ("D", 21)):
        scenario.enroll(student, school)
    for student, contact in (("A", "K"), ("C", "L"), ("D", "M"), ("E", "N")):
        scenario.relate(student, contact)
    scenario.employ("S", 1)
    scenario.assign("T", 12)
    scenario.assign("U", 21)
    scenario.make_responsible("E", 11)
    for staff in "STUV":
        scenario.post("StaffLeave", staffReference={"staffUniqueId": staff})
    for student in "ACDE":
        scenario.post(
            "StudentAssessment", studentAssessmentIdentifier=student, studentReference={"studentUniqueId": student}
        )
    scenario.post("Survey", surveyIdentifier="of nobody")


def of_test(views: CurrentViews) -> list:
    """The definitions that the tests need."""
    names = {"educationorganization", "descriptor", *map(str.lower, RESOURCES)}
    return [
        each
        for each in views.definitions
        if each.schema in ("edfi", "auth") and (not each.name or each.schema == "auth" or each.name in names)
    ]


@pytest.fixture(scope="module", autouse=True)
def _by_the_superuser(_restorable_database) -> Iterator[None]:
    """Which makes the roles of readers, and may act as any of them. What restores the database is made before,
    so that it belongs to the application: other modules need it, too."""
    with superuser.connected():
        yield


@pytest.fixture
def scenario(api, documents, current_views, surface) -> Scenario:
    made = Scenario(api, documents)
    fill(made)
    for role, organizations in READERS.items():
        query(f"CREATE ROLE {role} LOGIN")
        for organization in organizations:
            query("INSERT INTO sql_reader (role, organization) VALUES (%s, %s)", role, organization)
    Installation("default", readers=tuple(READERS), row_filter=RowFilter(surface, is_wanted=True)).install(
        of_test(current_views), "of a test"
    )
    return made


def shown(view: str, column: str = "id") -> list[str]:
    return sorted(str(value) for (value,) in query(f"SELECT {column} FROM edfi.{view}"))


def ids_of(resource: str) -> list[str]:
    """The ids of a resource's documents. Subclasses have theirs in the table of the base."""
    if resource in ("LocalEducationAgency", "School"):
        return shown(f"educationorganization WHERE discriminator = 'edfi.{resource}'")
    return shown(resource.lower())


def test_a_reader_sees_what_a_client_with_its_organizations_sees(scenario: Scenario) -> None:
    seen = {}
    client_by = cache(lambda strategy, claimed: scenario.client_by(strategy, organizations=claimed))
    for role, organizations in READERS.items():
        claimed = tuple(id_ for id_ in organizations if id_ is not None) or (4711,)
        for name, strategy in RESOURCES.items():
            is_everything = not strategy or None in organizations
            client = scenario.api if is_everything else client_by(strategy, claimed)
            answer = client.get(scenario.endpoint(name))
            allowed = sorted(each["id"] for each in answer.json()) if answer.status_code == 200 else []
            with logged_in(role):
                seen[role, name] = (ids_of(name), allowed)

    assert {key: (view, api) for key, (view, api) in seen.items() if view != api} == {}
    sizes = {(role, name): len(view) for (role, name), (view, _) in seen.items()}
    assert all(sizes["reads_everything", name] > 0 for name in RESOURCES)
    assert [sizes["reads_district_1", name] for name in RESOURCES] == [2, 2, 1, 2, 2, 1, 1, 2, 3, 2, 1, 2, 3, 1]
    assert {name: sizes["is_not_listed", name] for name in RESOURCES if sizes["is_not_listed", name]} == {"Survey": 1}


def test_joins_and_auth_show_the_same_people(scenario: Scenario) -> None:
    joined = (
        "SELECT s.studentuniqueid FROM edfi.studentschoolassociation e JOIN edfi.student s USING (studentusi)"
        " JOIN edfi.school c USING (schoolid) ORDER BY 1"
    )
    below = (
        "SELECT DISTINCT s.studentuniqueid FROM auth.educationorganizationidtostudentusi a"
        " JOIN edfi.student s USING (studentusi) ORDER BY 1"
    )
    organizations = (
        "SELECT DISTINCT targeteducationorganizationid FROM auth.educationorganizationidtoeducationorganizationid"
        " ORDER BY 1"
    )
    contacts = "SELECT count(DISTINCT contactusi) FROM auth.educationorganizationidtocontactusi"
    with logged_in("reads_school_21"):
        assert query(joined) == query(below) == [("C",), ("D",)]
        assert query(organizations) == [(21,)]
        assert query(contacts) == [(2,)]
    with logged_in("reads_district_1"):
        assert query(joined) == query(below) == [("A",), ("B",), ("D",)]
        assert query(organizations) == [(1,), (11,), (12,)]
    with logged_in("is_not_listed"):
        assert query(joined) == query(below) == query(organizations) == []
    assert len(query(joined)) == 5  # of the owner, who may read the tables anyway


def test_a_change_of_readers_or_of_associations_counts_at_once(scenario: Scenario) -> None:
    query("UPDATE sql_reader SET organization = 21 WHERE role = 'reads_school_11'")
    scenario.enroll("B", 21)

    with logged_in("reads_school_11"):
        assert shown("student", "studentuniqueid") == ["B", "C", "D"]


LEAKY = """
CREATE FUNCTION pg_temp.leak(value text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$
BEGIN
    RAISE NOTICE 'leaked %', value;
    RETURN true;
END
$$
"""
ATTACKS = (
    "SELECT count(*) FROM edfi.student WHERE pg_temp.leak(studentuniqueid)",
    "SELECT count(*) FROM edfi.student WHERE pg_temp.leak(firstname) AND pg_temp.leak(studentuniqueid)",
    "SELECT count(*) FROM edfi.student s JOIN edfi.studentschoolassociation e"
    " ON pg_temp.leak(s.studentuniqueid) AND pg_temp.leak(e.schoolid::text)",
    "SELECT count(*) FROM edfi.studentschoolassociation WHERE pg_temp.leak(schoolid::text) OR studentusi = 1",
    "SELECT count(*) FROM edfi.educationorganization WHERE pg_temp.leak(nameofinstitution || id)",
    "SELECT count(*) FROM edfi.calendar GROUP BY calendarcode HAVING bool_and(pg_temp.leak(calendarcode))",
    "SELECT (SELECT count(*) FROM edfi.contact c WHERE pg_temp.leak(c.contactuniqueid || s.studentuniqueid))"
    " FROM edfi.student s",
    "SELECT count(*) FROM auth.educationorganizationidtostudentusi"
    " WHERE pg_temp.leak(sourceeducationorganizationid::text)",
    "SELECT count(*) FROM edfi.staffleave ORDER BY max(CASE WHEN pg_temp.leak(staffusi::text) THEN 1 END)",
    # An error message would have the value.
    "SELECT count(*) FROM edfi.student WHERE CAST(firstname || studentuniqueid AS int) = 1",
    "SELECT count(*) FROM edfi.student WHERE 1 / (CASE studentuniqueid WHEN 'C' THEN 0 ELSE 1 END) = 1",
)


def test_functions_and_errors_in_conditions_reveal_no_row_of_others(scenario: Scenario) -> None:
    """The reader sees nobody, so that whatever a function gets is a leak."""
    notices: list[str] = []
    connection.connection.add_notice_handler(handler := lambda notice: notices.append(notice.message_primary))
    try:
        with logged_in("reads_nowhere"):
            query(LEAKY)
            for settings in ("", "SET LOCAL enable_seqscan = off", "SET LOCAL enable_indexscan = off"):
                for attack in ATTACKS:
                    with transaction.atomic():
                        if settings:
                            query(settings)
                        query(attack)
                        transaction.set_rollback(True)
            assert notices == []
        with logged_in("reads_school_21"):
            query(ATTACKS[0])
        assert sorted(notices) == ["leaked C", "leaked D"]
    finally:
        connection.connection.remove_notice_handler(handler)


# Statements by which a reader could lift the filter, and why each is refused.
LIFTING = {
    "SET ROLE reads_everything": "permission denied to set role",
    "SET ROLE {database}_sql": "permission denied to set role",
    "SET row_security = off; SELECT * FROM edfi.student": "would be affected by row-level security policy",
    "TABLE public.document": "permission denied",
    "TABLE public.reached_document": "permission denied",
    "TABLE public.sql_reader": "permission denied",
    "INSERT INTO public.sql_reader (role) VALUES ('reads_school_11')": "permission denied",
    "ALTER VIEW edfi.student OWNER TO reads_school_11": "must be owner",
    "ALTER VIEW edfi.student SET (security_invoker = true)": "must be owner",
    "ALTER TABLE public.document DISABLE ROW LEVEL SECURITY": "must be owner",
    "DROP POLICY sql_view_rows ON public.document": "must be owner",
    "CREATE OR REPLACE FUNCTION public.sql_reader_sees_everything() RETURNS boolean RETURN true": (
        "permission denied for schema public"
    ),
    "SELECT * FROM pg_statistic": "permission denied",
}


def test_what_could_lift_the_filter_is_refused(scenario: Scenario) -> None:
    (database,) = query("SELECT current_database()")[0]

    found = {each: refused("reads_school_11", each.format(database=database)) for each in LIFTING}

    assert {each: reason for each, reason in found.items() if LIFTING[each] not in reason} == {}


def test_settings_and_catalogs_reveal_nothing(scenario: Scenario) -> None:
    query("GRANT reads_everything TO reads_school_11")  # a member: SET ROLE works, and changes nothing
    query("ANALYZE document")
    with logged_in("reads_school_11"):
        query("SET ROLE reads_everything")
        assert shown("student", "studentuniqueid") == ["A", "D"]
        query("RESET ROLE")
        assert query("SELECT * FROM pg_stats WHERE tablename = 'document'") == []
        assert query("SELECT * FROM pg_stats_ext WHERE tablename = 'document'") == []
        query("SELECT set_config('search_path', 'pg_temp, public', true)")
        query("CREATE TEMPORARY TABLE sql_reader (role text, organization bigint)")
        query("INSERT INTO sql_reader VALUES ('reads_school_11', NULL)")
        assert shown("student", "studentuniqueid") == ["A", "D"]
        assert query("SELECT public.sql_reader_organizations(), public.sql_reader_sees_everything()") == [([11], False)]


def plans(current_views: CurrentViews) -> dict[str, list[tuple]]:
    views = [str(each) for each in of_test(current_views) if each.view is not None]
    return {view: query(f"EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM {view}") for view in views}


def test_without_the_filter_nothing_is_left_of_it(scenario: Scenario, current_views, surface) -> None:
    def of_roles() -> list[tuple]:
        return query(
            "SELECT n.nspname, c.relname, pg_get_userbyid(c.relowner), c.relrowsecurity FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname IN ('edfi', 'auth') OR c.relname IN ('document', 'organization_closure') ORDER BY 1, 2"
        )

    filtered = plans(current_views)
    Installation("default", row_filter=RowFilter(surface, is_wanted=False)).install(of_test(current_views), "of a test")
    (owner,) = query("SELECT current_user")[0]

    of_tables = superuser.APPLICATION
    assert {(of_view, is_filtered) for *_, of_view, is_filtered in of_roles()} == {(owner, False), (of_tables, False)}
    assert query("SELECT count(*) FROM pg_policies") == [(0,)]
    assert query("SELECT proname FROM pg_proc WHERE proname LIKE 'sql_reader%%'") == []
    assert all("sql_reader" not in str(plan) for plan in plans(current_views).values())
    assert any("sql_reader" in str(plan) for plan in filtered.values())
    with logged_in("reads_school_11"):
        assert set("ABCDE") < set(shown("student", "studentuniqueid"))


def test_a_further_run_keeps_the_filter_and_changes_nothing(scenario: Scenario, current_views, surface) -> None:
    policies = query("SELECT oid, xmin FROM pg_policy ORDER BY 1")
    views = Installation("default", row_filter=RowFilter(surface)).install(of_test(current_views), "of a test")

    assert views.statements == []
    assert query("SELECT oid, xmin FROM pg_policy ORDER BY 1") == policies


def test_the_api_sees_what_it_saw(scenario: Scenario) -> None:
    names = [each["studentUniqueId"] for each in scenario.api.get("/students").json()]

    assert [name for name in names if len(name) == 1] == list("ABCDE")


def test_other_roles_with_rights_on_the_tables_see_what_they_saw(scenario: Scenario) -> None:
    query("CREATE ROLE replicates LOGIN")
    query("GRANT SELECT ON document, organization_closure TO replicates")
    documents = query("SELECT count(*) FROM document")

    with logged_in("replicates"):
        assert query("SELECT count(*) FROM public.document") == documents


def test_a_role_that_may_not_create_roles_is_told_what_to_have_created(api, current_views, surface) -> None:
    with transaction.atomic():
        query(f"ALTER ROLE {superuser.APPLICATION} NOCREATEROLE")
        query(f"SET LOCAL ROLE {superuser.APPLICATION}")
        with pytest.raises(ViewsNotInstalled) as refused:
            Installation("default", row_filter=RowFilter(surface, is_wanted=True)).install([], "of a test")
        query("RESET ROLE")

    assert refused.value.args[0].startswith("the views have to belong to a role that may not be created from here")
    assert refused.value.args[1].startswith('CREATE ROLE "')


def test_copies_are_filtered_too(committing_api, documents, current_views, surface) -> None:
    made = Scenario(committing_api, documents)
    fill(made)
    query("CREATE ROLE copies_read_everything")
    query("CREATE ROLE copies_read_school_21 LOGIN")
    query("INSERT INTO sql_reader (role, organization) VALUES ('copies_read_school_21', 21)")
    definitions = of_test(current_views)
    students = Copying(("edfi.student*",))
    try:
        # The copy of students is there before the filter, that of enrollments comes after it.
        Installation("default", readers=("copies_read_school_21",), copying=Copying(("edfi.student",))).install(
            definitions, ""
        )
        refreshing.refresh("default")
        Installation("default", row_filter=RowFilter(surface, is_wanted=True)).install(definitions, "")
        Installation("default", copying=students, row_filter=RowFilter(surface)).install(definitions, "")
        refreshing.refresh("default")

        with psycopg.connect(connection.connection.info.dsn, user="copies_read_school_21", autocommit=True) as reader:
            for statement in (
                "SET SESSION AUTHORIZATION copies_read_everything",
                "SELECT set_config('session_authorization', 'copies_read_everything', false)",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    reader.execute(statement)
            assert reader.execute("SELECT studentuniqueid FROM edfi.student ORDER BY 1").fetchall() == [("C",), ("D",)]
        with logged_in("copies_read_school_21"):
            assert shown("studentschoolassociation", "schoolid") == ["21", "21"]
            assert query("SELECT count(*) FROM edfi_live.student") == [(2,)]
        assert set("ABCDE") < set(shown("student", "studentuniqueid"))
        assert "edfi_copy" in query("SELECT pg_get_viewdef('edfi.student'::regclass)")[0][0]
    finally:
        call_command("drop_sql_views", "--drop-dependents", verbosity=0)
        query("TRUNCATE sql_reader")
        query(f"DROP ROLE IF EXISTS copies_read_school_21, copies_read_everything, {row_filter.role('default')}")

    assert query("SELECT count(*) FROM pg_policies") == [(0,)]
    assert query("SELECT relname FROM pg_class WHERE relrowsecurity") == []


def test_numbers_of_people_are_compared_behind_the_filter(scenario: Scenario) -> None:
    """PostgreSQL does not hold the conversion of the number of a row for leakproof, so no index can serve it."""
    with logged_in("reads_school_11"):
        query("SET LOCAL enable_seqscan = off")
        plan = query("EXPLAIN (COSTS OFF) SELECT firstname FROM edfi.student WHERE studentusi = 7")

    assert "Index Cond: ((id)::integer = 7)" not in str(plan)
    assert "((id)::integer = 7)" in str(plan)
