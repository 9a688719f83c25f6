"""A run that looks only at what changed leaves the same results as one that looks at everything."""

import random
from datetime import date, timedelta
from typing import Any

import pytest

from tests.features.validation.conftest import student
from tests.features.validation.district import District, Life, enrollment
from tests.features.validation.rules import STUDENTS, Rules

FULL = """
SELECT v.identifier, o.is_full, o.reason FROM validation_run_rule o JOIN validation_rule v ON v.id = o.rule_id
 WHERE o.run_id = (SELECT max(id) FROM validation_run) ORDER BY 1
"""
DIFFERENCES = """
SELECT v.identifier, o.appeared, o.changed, o.resolved
  FROM validation_run_rule o JOIN validation_rule v ON v.id = o.rule_id
 WHERE o.run_id = (SELECT max(id) FROM validation_run) AND o.appeared + o.changed + o.resolved > 0
"""
# The value of the scope is no part of the identity: what it was stands only in earlier versions.
SCHOOLS = """/*
identifier = "G-1"
source = "tests"
version = "1"
short = "A district has two schools"
severity = "minor"
category = "c"
resource = "ed-fi/localEducationAgencies"
[incremental]
scope = "organization"
watch = ["ed-fi/schools", "ed-fi/localEducationAgencies"]
*/
SELECT l.id AS document_id
  FROM documents('ed-fi/localEducationAgencies') l
 WHERE (:scope IS NULL OR l.organization = ANY (:scope)) AND l.body ? 'localEducationAgencyCategoryDescriptor'
"""
SIBLINGS = """/*
identifier = "G-2"
source = "tests"
version = "1"
short = "Another student with the same name"
severity = "minor"
category = "c"
resource = "ed-fi/students"
[incremental]
scope = "document"
watch = ["ed-fi/students"]
*/
SELECT s.id AS document_id, 77 AS education_organization_id, s.body ->> 'lastSurname' AS key
  FROM documents('ed-fi/students') s
 WHERE (:scope IS NULL OR s.document_uuid = ANY (:scope)) AND length(s.body ->> 'lastSurname') > 3
"""


def test_an_incremental_run_equals_a_full_one(rules: Rules, settings, district: District, rows) -> None:
    """For every bundled rule that looks at enrollments, and for others, after random writes."""
    settings.EDFI_API = {**settings.EDFI_API, "BUNDLED_RULES": True}
    rules.write("g1.sql", SCHOOLS)
    rules.write("g2.sql", SIBLINGS)
    rules.write("s1.sql", STUDENTS)
    enrollment(district)
    chance = random.Random(27)  # noqa: S311
    rules.run()
    incremental: set[str] = set()
    for _ in range(5):
        for _ in range(chance.randint(1, 4)):
            change(district, chance)
        rules.run()
        incremental |= {rule for rule, is_full, _ in rows(FULL) if not is_full}
        rules.run("--full")
        assert rows(DIFFERENCES) == []

    assert incremental >= {"EN-101", "EN-102", "EN-103", "EN-104", "AT-202", "SC-302", "G-1", "G-2", "S-1"}


def change(district: District, chance: random.Random) -> None:
    """A random write: another enrollment or other dates, another name, a deletion, or another key."""
    name = chance.choice(["101", "102", "103", "104", "new"])
    first = date(2024, 1, 1) + timedelta(days=chance.randint(0, 9))
    last = None if chance.random() < 0.3 else first + timedelta(days=chance.randint(-2, 9))
    enrollments = district.api.get("/studentSchoolAssociations?limit=100").json()
    match chance.randint(0, 5):
        case 0 | 1 | 2:
            district.enroll(name, first, last, chance.choice([77, 88]))
        case 3:
            district.write("Student", studentUniqueId=name, lastSurname=chance.choice(["Li", "Ortiz", "Meyer"]))
        case 4 if enrollments:
            found = chance.choice(enrollments)
            assert district.api.delete(f"/studentSchoolAssociations/{found['id']}").status_code == 204
        case _ if enrollments:
            move(district, chance.choice(enrollments), first)


def move(district: District, found: dict[str, Any], first: date) -> None:
    """Change the natural key of an enrollment, unless another has that key."""
    changed = {name: value for name, value in found.items() if name[0] != "_"} | {"entryDate": str(first)}
    assert district.api.put(f"/studentSchoolAssociations/{found['id']}", changed).status_code in (204, 409)


@pytest.mark.long
def test_an_incremental_run_of_what_is_true_today_equals_a_full_one(
    rules: Rules, settings, district: District, rows, standard: str
) -> None:
    """For the bundled rules about attendance, sections, demographics and programs."""
    settings.EDFI_API = {**settings.EDFI_API, "BUNDLED_RULES": True}
    followed_rules = {"AT-201", "SC-301", "ST-402" if standard == "6.1" else "ST-401", "PR-501"}
    of_life = [argument for rule in sorted(followed_rules) for argument in ("--rule", rule)]
    life = Life(district)
    chance = random.Random(23)  # noqa: S311
    rules.run(*of_life)
    followed: set[str] = set()
    for _ in range(12):
        for _ in range(chance.randint(1, 2)):
            life.change(chance)
        rules.run(*of_life)
        incremental = {rule for rule, is_full, _ in rows(FULL) if not is_full}
        followed |= {rule for rule, *_ in rows(DIFFERENCES)} & incremental
        rules.run("--full", *of_life)
        assert rows(DIFFERENCES) == []

    assert followed == followed_rules


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (('version = "1"', 'version = "2"'), "another version, parameter, standard or day"),
        (("no middle", "still no middle"), ""),
        (("NOT d.body", "  NOT d.body"), "another version, parameter, standard or day"),
        (("WHERE NOT", "WHERE :today > '2000-01-01' AND NOT"), "another version, parameter, standard or day"),
    ],
)
def test_what_makes_a_run_full(rules: Rules, committing_api, rows, edit: tuple[str, str], reason: str) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    assert rows(FULL) == [("S-1", True, "first run")]
    rules.write("s1.sql", STUDENTS.replace(*edit))

    rules.run()

    assert rows(FULL) == [("S-1", bool(reason), reason)]


def test_a_change_without_value_of_the_scope_makes_a_run_full(
    rules: Rules, committing_api, documents, resource_named, rows
) -> None:
    rules.write("s1.sql", STUDENTS.replace('watch = ["ed-fi/students"]', 'watch = ["ed-fi/students", "ed-fi/schools"]'))
    rules.run()
    rules.run()
    assert rows(FULL) == [("S-1", False, "")]
    documents.store(resource_named("School"))

    rules.run()

    assert rows(FULL) == [("S-1", True, "a change of ed-fi/schools has no student")]


def test_violations_outside_the_scope_fail(rules: Rules, committing_api, rows) -> None:
    """They would be taken for those of the scope, and others be resolved."""
    rules.write("s1.sql", STUDENTS.replace("(:scope IS NULL OR d.student = ANY (:scope))", "(:scope IS NULL OR true)"))
    student(committing_api, "1")
    rules.run()
    student(committing_api, "2")

    rules.run_with_failures()

    assert rows(FULL)[0][2] == "returned a violation outside :scope"


def test_after_a_truncated_run_of_another_version_a_run_is_full(rules: Rules, committing_api, rows) -> None:
    """Otherwise what appeared by the other version would stay for ever."""
    student(committing_api, "1", middleName="Ann")
    student(committing_api, "2", middleName="Bea")
    rules.write("s1.sql", STUDENTS)
    rules.run()
    rules.write("s1.sql", STUDENTS.replace("NOT d.body", "d.body").replace("short =", "row_limit = 1\nshort ="))
    rules.run_with_failures()
    assert rows("SELECT count(*) FROM validation_result WHERE resolved_at IS NULL") == [(1,)]
    rules.write("s1.sql", STUDENTS)

    rules.run()

    assert rows(FULL) == [("S-1", True, "the last full run was not complete")]
    assert rows("SELECT count(*) FROM validation_result WHERE resolved_at IS NULL") == [(0,)]


def test_a_failed_run_is_made_up_for(rules: Rules, committing_api, rows) -> None:
    """What changed since the last run that succeeded counts."""
    rules.write("s1.sql", STUDENTS)
    rules.run()
    student(committing_api, "1")
    rules.write("s1.sql", STUDENTS.replace("d.id AS", "d.idd AS"))
    rules.run_with_failures()
    rules.write("s1.sql", STUDENTS)

    rules.run()

    assert rows(FULL) == [("S-1", False, "")]
    assert rows("SELECT count(*) FROM validation_result WHERE resolved_at IS NULL") == [(1,)]
