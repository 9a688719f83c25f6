"""`check_rules`: wrong files beside the messages about them; nothing is executed."""
# ruff: noqa: E501

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from tests.features.validation.rules import STUDENTS

pytestmark = pytest.mark.django_db

HEAD, _, QUERY = STUDENTS.partition("*/\n")
PYTHON = """from edfi_api.features.validation.rule_files import rule


@rule(identifier="P", source="tests", version="1", short="s", severity="{severity}", category="c", resource="{resource}")
def find(context):
    return []
"""
PLAIN = HEAD.partition("[incremental]")[0]

WRONG = [
    ("SELECT 1", "1: does not begin with a comment /* … */ that has the members of the rule"),
    ("/* a = */ SELECT 1", "1: not TOML: Invalid value"),
    (f"{PLAIN}*/", "9: has no query"),
    (STUDENTS.replace('version = "1"\n', ""), "1: 'version' is missing"),
    (STUDENTS.replace('"minor"', '"bad"'), "1: 'severity' has to be one of warning, minor, major"),
    (STUDENTS.replace("short", "shirt"), "1: 'short' is missing"),
    (STUDENTS.replace('"S-1"', f'"{"x" * 101}"'), "1: 'identifier' has 101 characters, of at most 100"),
    (STUDENTS.replace("short =", "row_limit = 0\nshort ="), "1: 'row_limit' has to be a number from 1 to 10000000"),
    (STUDENTS.replace("short =", 'over = "tables"\nshort ='), "1: 'over' has to be one of documents, views"),
    (STUDENTS.replace('"student"', '"school"'), "1: the scope has to be one of student, staff, contact, organization, document"),
    (STUDENTS.replace('["ed-fi/students"]', "[]"), "1: 'watch' has to be a list of resources, such as [\"ed-fi/students\"]"),
    (STUDENTS.replace('["ed-fi/students"]', '["ed-fi/pupils"]'), "1: the standard has no resource ed-fi/pupils, which is watched"),
    (STUDENTS.replace('resource = "ed-fi/students"', 'resource = "ed-fi/pupils"'), "1: the standard has no resource ed-fi/pupils; one reads like ed-fi/students"),
    (STUDENTS.replace("AND (:scope IS NULL OR d.student = ANY (:scope))", ""), "1: is incremental, but does not use :scope"),
    (STUDENTS.replace("'middleName'", ":name"), "13: there is no parameter :name; declared are :today, :school_year, :scope"),
    (f'{PLAIN}[parameters]\nn = {{type = "text", default = 1}}\n*/\n{QUERY}', "1: the default of the parameter 'n' is not of its type text"),
    (f'{PLAIN}[parameters]\nn = {{type = "text", default = "1"}}\n*/\nSELECT 1 AS document_id', "1: the parameter 'n' is not used"),
    (f"{PLAIN}*/\nSELECT 1 AS document_id; SELECT 2", "10: has to be one query"),
    (f"{PLAIN}*/\nSELECT 1 AS document_id\n  FROM nowhere", '11: UndefinedTable: relation "nowhere" does not exist (42P01)'),
    (f"{PLAIN}*/\nSELECT 1 AS id", "10: returns unknown columns: id"),
    (f"{PLAIN}*/\nSELECT 'x' AS key", "10: returns neither document_id, document_uuid nor education_organization_id"),
    (f"{PLAIN}*/\nSELECT 'x'::text AS document_id", "10: returns columns of a wrong type: document_id"),
    (f"{PLAIN}*/\nSELECT id AS document_id FROM documents('ed-fi/pupils')", '10: UndefinedObject: there is no resource "ed-fi/pupils"; one reads like ed-fi/students (42704)'),
    (f"{PLAIN}*/\nDELETE FROM document RETURNING id AS document_id", '10: SyntaxError: syntax error at or near "FROM" (42601)'),
    (f"{PLAIN}over = \"views\"\n*/\nSELECT 1 AS document_id FROM edfi.student", '11: UndefinedTable: relation "edfi.student" does not exist (42P01)'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[message[:50] for _, message in WRONG])
def test_a_wrong_rule_is_reported_with_its_line(rules, text: str, message: str) -> None:
    rules.write("rule.sql", text)

    assert any(line.startswith(f"rule.sql:{message}") for line in rules.check()), rules.check()


def test_all_problems_of_a_file_are_reported(rules) -> None:
    rules.write("rule.sql", STUDENTS.replace('version = "1"\n', "").replace('"minor"', '"bad"'))

    assert rules.check() == [
        "rule.sql:1: 'severity' has to be one of warning, minor, major",
        "rule.sql:1: 'version' is missing",
    ]


def test_two_rules_of_one_identifier_are_a_problem(rules) -> None:
    first = rules.write("a.sql", STUDENTS)
    rules.write("b.sql", STUDENTS)

    assert rules.check() == [f"b.sql:1: {first} has the identifier 'S-1' already"]


def test_wrong_rules_in_python(rules) -> None:
    rules.write("a.py", "def f(:")
    rules.write("b.py", "x = 1\n\nraise KeyError('x')")
    rules.write("c.py", "x = 1")
    rules.write("d.py", PYTHON.format(severity="bad", resource="ed-fi/students"))
    rules.write("e.py", PYTHON.format(severity="minor", resource="ed-fi/pupils"))

    assert rules.check() == [
        "a.py:1: not Python: invalid syntax",
        "b.py:3: cannot be imported: KeyError: 'x'",
        "c.py:1: has no function that is marked by @rule",
        "d.py:4: 'severity' has to be one of warning, minor, major",
        "e.py:4: the standard has no resource ed-fi/pupils; one reads like ed-fi/students",
    ]


def test_members_of_a_folder_are_shared(rules) -> None:
    rules.write("rules.toml", 'source = "district"')
    rules.write("s1.sql", STUDENTS.replace('source = "tests"\n', ""))

    assert rules.check() == ["1 rule without problems"]


def test_rules_for_other_standards_are_left_out(rules) -> None:
    rules.write("s1.sql", STUDENTS.replace("short =", 'standards = ["9.9"]\nshort =').replace("d.id", "d.idd"))

    assert rules.check() == ["0 rules without problems, 1 for other standards"]


def test_a_standard_has_the_name_of_its_package_and_its_version(rules, surface) -> None:
    for name in (surface.core_project.package_name.rpartition("-")[2], surface.core_project.version):
        rules.write("s1.sql", STUDENTS.replace("short =", f'standards = ["{name}"]\nshort ='))

        assert rules.check() == ["1 rule without problems"]


def test_nothing_is_executed(rules) -> None:
    rules.write("s1.sql", f"{PLAIN}*/\nSELECT 1 AS education_organization_id, pg_sleep(60)::text AS key")

    assert rules.check() == ["1 rule without problems"]


RENAMED = STUDENTS.replace("no middle name", "no nickname")


@pytest.mark.parametrize(
    ("former", "text", "is_another"),
    [
        ("open", STUDENTS, False),
        ("open", RENAMED.replace("'middleName'", "'nickname'"), False),
        ("open", STUDENTS.replace('resource = "ed-fi/students"', 'resource = "ed-fi/staffs"'), True),
        ("removed", STUDENTS, False),
        ("removed", RENAMED, False),
        ("removed", STUDENTS.replace("'middleName'", "'nickname'"), False),
        ("removed", RENAMED.replace("'middleName'", "'nickname'"), True),
        ("removed", RENAMED.replace("'middleName'", "'nickname'").replace("tests", "others"), False),
    ],
)
def test_an_identifier_that_was_another_rules_is_a_problem(
    rules, transactional_db, former: str, text: str, is_another: bool
) -> None:
    path = rules.write("s1.sql", STUDENTS)
    rules.run()
    if former == "removed":
        path.unlink()
        rules.run()
    rules.write("s1.sql", text)

    found = [line for line in rules.check() if "another rule's" in line]

    message = "s1.sql:1: the identifier 'S-1' was another rule's: The student has no middle name (Student)"
    assert found == [message] * is_another


@pytest.mark.parametrize(("rows", "is_large"), [(100_000, False), (100_001, True)])
def test_a_filter_does_not_hide_that_a_large_table_is_read(rules, transactional_db, rows: int, is_large: bool) -> None:
    query = "SELECT 1 AS education_organization_id, n::text AS key FROM checked WHERE n = 5"
    path = rules.write("s1.sql", f"{PLAIN}*/\n{query}")
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE checked AS SELECT n FROM generate_series(1, %s) n", [rows])
        cursor.execute("ANALYZE checked")
        cursor.execute("GRANT SELECT ON checked TO meadowlark_rules")
    try:
        found = rules.check()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE checked")

    warning = f"{path.name}: warning: reads more than 100,000 rows of checked one after the other"
    assert found == [warning] * is_large + ["1 rule without problems"]


def test_a_plan_can_be_shown(rules) -> None:
    rules.write("s1.sql", STUDENTS)

    assert any("resource_type_id = " in line for line in rules.check("--explain", "S-1"))
    with pytest.raises(CommandError, match="There is no rule S-9 in SQL"):
        call_command("check_rules", "--explain", "S-9")
