"""Runs: what rules find becomes results, which keep their identity until they are resolved."""

from threading import Thread

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from edfi_api.features.validation.metrics import last_run
from tests.features.validation.conftest import MEANTIME, OPEN, student
from tests.features.validation.rules import STUDENTS

EPISODES = """
SELECT natural_key, episode, resolved_at IS NULL, resolution FROM validation_result ORDER BY natural_key, episode
"""
OUTCOMES = """
SELECT r.identifier, o.outcome, o.is_full, o.reason, o.found, o.appeared, o.changed, o.resolved
  FROM validation_run_rule o JOIN validation_rule r ON r.id = o.rule_id
 WHERE o.run_id = (SELECT max(id) FROM validation_run)
 ORDER BY 1
"""


def broken(identifier: str, query: str) -> str:
    head = STUDENTS.partition("[incremental]")[0].replace("S-1", identifier)
    return f"{head}*/\n{query}\n"


def test_a_violation_appears_once_and_is_resolved_when_it_is_repaired(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    student(committing_api, "2", middleName="Ann")

    rules.run()
    rules.run("--full")
    assert rows(OPEN) == [("NK#studentUniqueId=1", "The student has no middle name")]
    student(committing_api, "1", middleName="Bea")
    rules.run()

    assert rows(EPISODES) == [("NK#studentUniqueId=1", 1, False, "repaired")]
    assert rows(OUTCOMES) == [("S-1", "published", False, "", 0, 0, 0, 1)]


def test_what_appears_again_is_another_episode_of_the_same_result(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    student(committing_api, "1", middleName="Bea")
    rules.run()
    student(committing_api, "1")
    rules.run()

    assert rows(EPISODES) == [("NK#studentUniqueId=1", 1, False, "repaired"), ("NK#studentUniqueId=1", 2, True, None)]
    assert rows("SELECT count(DISTINCT result_key), count(DISTINCT result_uuid) FROM validation_result") == [(1, 2)]


def test_a_result_of_a_deleted_document_is_resolved(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    path = student(committing_api, "1")
    rules.run()
    assert committing_api.delete(path).status_code == 204
    rules.run()

    assert rows(EPISODES) == [("NK#studentUniqueId=1", 1, False, "repaired")]


def test_a_document_that_is_created_again_keeps_its_result(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    path = student(committing_api, "1")
    rules.run()
    committing_api.delete(path)
    again = student(committing_api, "1")
    rules.run()

    assert rows("SELECT episode, document_uuid::text, resolved_at FROM validation_result") == [
        (1, again.rpartition("/")[2], None)
    ]


def test_a_rule_that_fails_is_reported_and_stops_no_other(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    rules.write(
        "f1.sql",
        broken(
            "F-1", "SELECT d.id AS document_id, (d.natural_key)::date::text AS key FROM documents('ed-fi/students') d"
        ),
    )
    rules.write("f2.sql", broken("F-2", "SELECT 1 AS document_idd"))
    rules.write("f3.sql", broken("F-3", "SELECT 2147483647::bigint AS document_id"))
    other = broken("F-4", "SELECT id AS document_id FROM documents('ed-fi/students') d")
    rules.write("f4.sql", other.replace("ed-fi/students", "ed-fi/schools", 1))
    rules.write("f5.sql", broken("F-5", "SELECT x FROM nowhere"))
    student(committing_api, "2")

    out = rules.run_with_failures()

    assert rows(OUTCOMES) == [
        ("F-1", "failed", True, "InvalidDatetimeFormat (22007)", 0, 0, 0, 0),
        (
            "F-2",
            "failed",
            True,
            "returns unknown columns: document_idd; there are document_id, document_uuid, education_organization_id, "
            "student_unique_id, staff_unique_id, contact_unique_id, namespace, key, message, context, "
            "other_document_ids",
            0,
            0,
            0,
            0,
        ),
        ("F-3", "failed", True, "returned a document that does not exist", 0, 0, 0, 0),
        ("F-4", "failed", True, "returned a document of another resource than ed-fi/schools", 0, 0, 0, 0),
        ("F-5", "failed", True, 'UndefinedTable: relation "nowhere" does not exist (42P01)', 0, 0, 0, 0),
        ("S-1", "published", False, "", 1, 1, 0, 0),
    ]
    assert "NK#" not in out
    assert rows("SELECT count(*) FROM staged_violation") == [(0,)]
    assert rows("SELECT status FROM validation_run ORDER BY id DESC LIMIT 1") == [("Completed",)]


def test_the_results_of_a_rule_that_fails_stay(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    rules.write("s1.sql", STUDENTS.replace("'middleName'", "'middleName' AND 1 / (d.id - d.id) = 1"))
    rules.run_with_failures()

    assert rows(OPEN) == [("NK#studentUniqueId=1", "The student has no middle name")]


def test_a_rule_cannot_write(rules, committing_api, rows) -> None:
    """Neither by itself nor by a function, nor by leaving the transaction."""
    before = rows("SELECT count(*), max(change_version) FROM document")
    hidden = (
        "SELECT 1 AS education_organization_id, {} AS key",
        "WITH gone AS (DELETE FROM document RETURNING id) SELECT id AS document_id FROM gone",
        "SELECT 1 AS education_organization_id) v; DELETE FROM document; SELECT * FROM (SELECT 1",
        "DELETE FROM document RETURNING id AS document_id",
    )
    calls = (
        "query_to_xml('DELETE FROM document', true, true, '')::text",
        "nextval('change_version')::text",
        "set_config('transaction_read_only', 'off', false)",
    )
    queries = [hidden[0].format(call) for call in calls] + list(hidden[1:])
    for number, query in enumerate(queries):
        rules.write(f"w{number}.sql", broken(f"W-{number}", query))

    rules.run_with_failures()

    outcomes = rows("SELECT o.outcome FROM validation_run_rule o")
    assert outcomes == [("failed",)] * len(queries)
    assert rows("SELECT count(*), max(change_version) FROM document") == before


def test_a_slow_rule_is_timed_out(rules, committing_api, rows) -> None:
    text = broken("T-1", "SELECT 1 AS education_organization_id, pg_sleep(30)::text AS key")
    rules.write("t1.sql", text.replace("*/", "seconds = 1\n*/"))

    rules.run_with_failures()

    assert rows("SELECT outcome, reason FROM validation_run_rule") == [("timed out", "more than 1 seconds")]


def test_a_run_that_is_out_of_time_is_stopped(rules, committing_api, rows, settings) -> None:
    """Also if it cuts its last rule."""
    settings.EDFI_API = {**settings.EDFI_API, "VALIDATION_SECONDS": 1}
    rules.write("t1.sql", broken("T-1", "SELECT 1 AS education_organization_id, pg_sleep(30)::text AS key"))

    out = rules.run_with_failures("--jobs", "1")

    assert "stopped: out of time" in out
    assert rows("SELECT status FROM validation_run") == [("Stopped",)]
    assert rows("SELECT outcome, reason FROM validation_run_rule") == [
        ("timed out", "the run takes more than 1 seconds")
    ]


def test_rules_that_could_not_be_run_are_in_the_log(rules, committing_api, rows, log) -> None:
    student(committing_api, "1")
    named = "SELECT d.id AS document_id, (d.natural_key)::date::text AS key FROM documents('ed-fi/students') d"
    rules.write("f1.sql", broken("F-1", named))
    slow = broken("T-1", "SELECT 1 AS education_organization_id, pg_sleep(30)::text AS key")
    rules.write("t1.sql", slow.replace("*/", "seconds = 1\n*/"))

    rules.run_with_failures()

    [(run,)] = rows("SELECT run_identifier FROM validation_run")
    warnings = [line for line in log.of("edfi_api.features.validation.running") if line["level"] == "WARNING"]
    assert sorted(line["message"] for line in warnings) == [
        f"the rule tests/F-1 failed in the run {run}: InvalidDatetimeFormat (22007)",
        f"the rule tests/T-1 timed out in the run {run}: more than 1 seconds",
    ]


def test_a_rule_that_is_not_active_is_known_and_not_run(rules, committing_api, rows) -> None:
    student(committing_api, "1")
    rules.write("s1.sql", STUDENTS)
    rules.run()
    rules.write("s1.sql", STUDENTS.replace("short =", "active = false\nshort ="))
    rules.write("s2.sql", STUDENTS.replace("S-1", "S-2").replace("short =", "active = false\nshort ="))
    rules.run()

    assert rows("SELECT identifier, is_active FROM validation_rule ORDER BY 1") == [("S-1", False), ("S-2", False)]
    assert rows(EPISODES) == [("NK#studentUniqueId=1", 1, False, "rule retired")]
    assert rows(OUTCOMES) == []


def test_too_many_violations_appear_but_resolve_nothing(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    for number in range(3):
        student(committing_api, str(number))
    rules.run()
    student(committing_api, "0", middleName="Ann")
    rules.write("s1.sql", STUDENTS.replace("short =", "row_limit = 1\nshort ="))

    rules.run_with_failures("--full")

    assert rows("SELECT outcome, found, resolved FROM validation_run_rule ORDER BY run_id DESC LIMIT 1") == [
        ("truncated", 1, 0)
    ]
    assert len(rows(OPEN)) == 3


def test_a_rule_without_file_loses_its_results(rules, committing_api, rows) -> None:
    path = rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    path.unlink()
    rules.run()

    assert rows(EPISODES) == [("NK#studentUniqueId=1", 1, False, "rule retired")]


def test_a_broken_file_retires_nothing(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    rules.write("s1.sql", STUDENTS.replace("severity", "severe"))

    out = rules.run_with_failures()

    assert "unknown member 'severe'" in out
    assert len(rows(OPEN)) == 1


def test_only_one_run_at_a_time(rules, committing_api) -> None:
    rules.write("s1.sql", STUDENTS)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtextextended('meadowlark run_validation', 0))")
        try:
            with pytest.raises(CommandError, match="Rules are being run already") as refused:
                rules.run()
        finally:
            cursor.execute("SELECT pg_advisory_unlock_all()")

    assert refused.value.returncode == 75


def test_a_killed_run_is_stopped_by_the_next(rules, committing_api, rows) -> None:
    rows_before = (
        "INSERT INTO validation_run (run_identifier, host, started_by, change_version) VALUES ('k', 'h', 'c', 1)"
    )
    with connection.cursor() as cursor:
        cursor.execute(rows_before)
    rules.run()

    assert rows("SELECT status, finished_at IS NULL FROM validation_run ORDER BY id") == [
        ("Stopped", False),
        ("Completed", False),
    ]


def test_a_dry_run_prints_and_stores_nothing(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")

    out = rules.run("--dry-run")

    assert "tests/S-1: NK#studentUniqueId=1 : The student has no middle name" in out
    assert rows("SELECT count(*) FROM validation_run") == [(0,)]
    assert rows("SELECT count(*) FROM validation_rule") == [(0,)]


def test_parameters_have_defaults_and_can_be_set(rules, committing_api, rows) -> None:
    text = broken("P-1", "SELECT d.id AS document_id, :name AS key FROM documents('ed-fi/students') d")
    rules.write("p1.sql", text.replace("*/", '[parameters]\nname = {type = "text", default = "standard"}\n*/'))
    student(committing_api, "1")

    rules.run()
    rules.run("--set", "name=other")

    assert rows("SELECT key, resolved_at IS NULL FROM validation_result ORDER BY id") == [
        ("standard", False),
        ("other", True),
    ]
    with pytest.raises(CommandError, match=r"There is no parameter nome\."):
        rules.run("--set", "nome=other")


def test_a_rule_in_python(rules, committing_api, rows) -> None:
    rules.write(
        "p.py",
        """
from edfi_api.features.validation.rule import RuleViolation
from edfi_api.features.validation.rule_files import rule


@rule(identifier="PY-1", source="tests", version="1", short="Two students of one name", severity="warning",
      category="Students", resource="ed-fi/students")
def same_names(context):
    names = {}
    for id_, name in context.rows(
        "SELECT id, body ->> 'lastSurname' FROM documents(%(resource)s) ORDER BY id", {"resource": "ed-fi/students"}
    ):
        if name in names:
            yield RuleViolation(document_id=id_, education_organization_id=7, context={"other": names[name]},
                            other_document_ids=[names[name]])
        names[name] = id_
""",
    )
    student(committing_api, "1")
    student(committing_api, "2")

    rules.run()

    assert rows("SELECT natural_key, organization, message, cardinality(other_documents) FROM validation_result") == [
        ("NK#studentUniqueId=2", 7, "Two students of one name", 1)
    ]


@pytest.mark.parametrize("error", ["ValueError", "SystemExit"])
def test_a_rule_in_python_that_raises_names_its_line_only(rules, committing_api, rows, error) -> None:
    rules.write(
        "p.py",
        f"""from edfi_api.features.validation.rule_files import rule


@rule(identifier="PY-1", source="tests", version="1", short="s", severity="warning", category="c",
      resource="ed-fi/students")
def fails(context):
    raise {error}("secret")
""",
    )
    rules.run_with_failures()

    assert rows("SELECT outcome, reason FROM validation_run_rule") == [("failed", f"{error} in line 7")]


def test_the_last_run_has_counts(rules, committing_api) -> None:
    assert last_run("default") is None
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()

    last = last_run("default")

    assert last is not None
    assert (last.status, last.rules, last.failed_rules, last.appeared, last.resolved) == ("Completed", 1, 0, 1, 0)


def test_two_processes_cannot_double_a_result(rules, committing_api, rows) -> None:
    """Even without the lock of the run, a violation is open once."""
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    copy = """
INSERT INTO validation_result (result_uuid, result_key, episode, rule_id, digest, message, first_run)
SELECT gen_random_uuid(), gen_random_uuid(), 2, rule_id, digest, message, first_run FROM validation_result
"""
    with pytest.raises(Exception, match="validation_result_open"), connection.cursor() as cursor:
        cursor.execute(copy)


def test_organizations_narrow_a_run(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    student(committing_api, "1", middleName="Ann")

    rules.run("--organization", "2")

    assert len(rows(OPEN)) == 1


def test_unknown_rules_and_categories_are_refused(rules, db) -> None:
    rules.write("s1.sql", STUDENTS)
    for arguments, message in (
        (["--rule", "S-9"], "There is no rule S-9."),
        (["--category", "Staff"], "There is no category Staff."),
    ):
        with pytest.raises(CommandError, match=message):
            call_command("run_validation", *arguments)


def test_all_rules_see_one_moment_and_later_changes_are_for_the_next_run(rules, committing_api, rows) -> None:
    """A student who is written while the first rule runs is not there for the second one."""
    head = STUDENTS.partition("[incremental]")[0].replace("/*", "").replace("\n", ", ").strip(" ,")
    rules.write(
        "a.py",
        f"""
from edfi_api.features.validation.rule_files import rule
from tests.features.validation.conftest import MEANTIME


@rule({head.replace("S-1", "A-1")})
def first(context):
    while MEANTIME:
        MEANTIME.pop()()
    return []
""",
    )
    rules.write("s1.sql", STUDENTS)

    def write() -> None:
        student(committing_api, "1")
        connection.close()  # Of the thread that runs the rule.

    rules.run("--jobs", "1")
    MEANTIME.append(write)
    rules.run("--jobs", "1")
    assert rows(OPEN) == []
    rules.run("--jobs", "1")

    assert rows(OPEN) == [("NK#studentUniqueId=1", "The student has no middle name")]
    assert rows(OUTCOMES)[1][:3] == ("S-1", "published", False)


def test_concurrent_runs_leave_each_result_once(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    for number in range(5):
        student(committing_api, str(number))
    ended: list[str] = []

    def run() -> None:
        try:
            ended.append(rules.run("--full"))
        except CommandError as refused:
            ended.append(str(refused))
        connection.close()

    threads = [Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert any("published" in each for each in ended)
    assert all("published" in each or "Rules are being run already" in each for each in ended)
    assert rows("SELECT count(*), count(DISTINCT natural_key) FROM validation_result") == [(5, 5)]
