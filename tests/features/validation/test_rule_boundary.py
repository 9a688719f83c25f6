"""What the author of a rule gets at who wants more than documents: secrets, files, locks, the server."""

import time

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection

from tests.features.validation.conftest import student
from tests.features.validation.rules import STUDENTS, Rules
from tests.support import superuser

HEAD = """/*
identifier = "A-1"
source = "attacker"
version = "1"
short = "s"
severity = "minor"
category = "c"
resource = "ed-fi/students"
seconds = {seconds}
*/
"""
RESULTS = "SELECT key FROM validation_result"
OUTCOME = "SELECT outcome, reason FROM validation_run_rule"
# Anything that a query returns would be a result of this key.
STEAL = "SELECT 1 AS education_organization_id, ({})::text AS key"
READ_SECRETS = {
    "directly": "SELECT string_agg(client_secret, ' ') FROM security_apiclient",
    "by a role that is reset": (
        "SELECT string_agg(word, ' ') FROM set_config('role', 'none', true),"
        " ts_stat('SELECT to_tsvector(''simple'', client_secret) FROM security_apiclient')"
    ),
    "by XML": "query_to_xml('SELECT client_secret FROM security_apiclient', true, true, '')",
    "by a rewritten search": (
        "ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, client_secret::tsquery FROM security_apiclient')"
    ),
    "of users": "SELECT string_agg(password, ' ') FROM auth_user",
    "of sessions": "SELECT string_agg(session_key, ' ') FROM django_session",
    "of data stores": "SELECT string_agg(connection, ' ') FROM data_store",
    "of roles": "SELECT string_agg(rolname || coalesce(rolpassword, ''), ' ') FROM pg_authid",
}
BY_DBLINK = """
SELECT client_secret FROM dblink('dbname=' || current_database(), 'SELECT client_secret FROM security_apiclient')
    AS of_another_session (client_secret text)
"""
USE_THE_SERVER = {
    "read a file": "pg_read_file('PG_VERSION')",
    "read a file as bytes": "pg_read_binary_file('global/pg_control')",
    "list a folder": "SELECT string_agg(f, ' ') FROM pg_ls_dir('.') f",
    "import a file": "lo_import('PG_VERSION')",
    "become the superuser": "set_config('session_authorization', (SELECT rolname FROM pg_roles WHERE oid = 10), true)",
    "fill the disk": "set_config('temp_file_limit', '-1', true)",
    "write the log": "pg_logical_emit_message(false, 'a', repeat('x', 1000))",
    "reload the settings": "pg_reload_conf()",
    "end the sessions of others": "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE false",
    "stop the writers of organizations": "pg_advisory_lock('organization_closure'::regclass::bigint)",
    "stop all batches": "pg_try_advisory_xact_lock(1)",
    "write a large object": "lo_from_bytea(0, 'x')",
    "notify consumers": "pg_notify('document_change', 'x')",
}


@pytest.mark.parametrize(
    "stolen", [*READ_SECRETS.values(), *USE_THE_SERVER.values()], ids=[*READ_SECRETS, *USE_THE_SERVER]
)
def test_a_query_gets_permission_denied(rules: Rules, committing_api, rows, stolen: str) -> None:
    rules.write("a1.sql", HEAD.format(seconds=30) + STEAL.format(stolen))

    rules.run_with_failures()

    [(outcome, reason)] = rows(OUTCOME)
    assert (outcome, rows(RESULTS)) == ("failed", [])
    assert "permission denied" in reason, reason


def test_a_query_in_python_gets_permission_denied(rules: Rules, committing_api, rows) -> None:
    rules.write(
        "a1.py",
        """
from edfi_api.features.validation.rule import RuleViolation
from edfi_api.features.validation.rule_files import rule

@rule(identifier="A-1", source="attacker", version="1", short="s", severity="minor", category="c",
      resource="ed-fi/students")
def secrets(context):
    for secret, in context.rows("SELECT client_secret FROM security_apiclient"):
        yield RuleViolation(education_organization_id=1, key=secret)
""",
    )

    rules.run_with_failures()

    [(outcome, reason)] = rows(OUTCOME)
    assert (outcome, rows(RESULTS)) == ("failed", [])
    assert "permission denied for table security_apiclient" in reason


def test_a_query_runs_as_a_login_of_its_own(rules: Rules, committing_api, rows) -> None:
    rules.write("a1.sql", HEAD.format(seconds=30) + STEAL.format("concat_ws(' ', session_user, current_user)"))

    rules.run()

    assert rows(RESULTS) == [("meadowlark_rules meadowlark_rules",)]


def test_the_login_reads_three_tables_and_writes_none(committing_api) -> None:
    """Beside views, which a command grants."""
    with psycopg.connect(**superuser.parameters() | {"user": "meadowlark_rules"}, autocommit=True) as rule:
        privileges = rule.execute(
            "SELECT relname, string_agg(p, ',') FROM pg_class,"
            " unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS p"
            " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')"
            "   AND CASE relkind WHEN 'S' THEN has_sequence_privilege(oid, 'USAGE')"
            "       ELSE has_table_privilege(oid, p) END"
            " GROUP BY relname ORDER BY relname"
        ).fetchall()
        attributes = rule.execute(
            "SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls FROM pg_roles"
            " WHERE rolname = session_user"
        ).fetchone()

        assert privileges == [("document", "SELECT"), ("organization_closure", "SELECT"), ("resource_type", "SELECT")]
        assert attributes == (False,) * 5
        assert rule.execute("SHOW default_transaction_read_only").fetchone() == ("on",)
        assert rule.execute(
            "SELECT count(*) FROM pg_auth_members WHERE member = 'meadowlark_rules'::regrole"
        ).fetchone() == (0,)


def test_a_program_cannot_be_run_by_leaving_the_parentheses(rules: Rules, committing_api, rows, tmp_path) -> None:
    """COPY is a statement of its own, and one query is all that a rule has."""
    for text in (
        f"SELECT 1 AS education_organization_id) v; COPY (SELECT 1) TO PROGRAM 'touch {tmp_path}/run'; SELECT (1",
        "SELECT 1 AS education_organization_id) v; CREATE TEMP TABLE t AS SELECT * FROM (SELECT 1",
        "SELECT 1 AS education_organization_id INTO TEMP t",
        "WITH gone AS (DELETE FROM document RETURNING 1) SELECT 1 AS education_organization_id FROM gone",
    ):
        rules.write("a1.sql", HEAD.format(seconds=30) + text)

        rules.run_with_failures()

        assert rows(RESULTS) == []
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "wait",
    [
        "SELECT pg_sleep(30) FROM set_config('statement_timeout', '0', false)",
        "SELECT pg_sleep(30) FROM set_config('statement_timeout', '1h', true)",
    ],
)
def test_a_query_cannot_extend_its_time(rules: Rules, committing_api, rows, wait: str) -> None:
    rules.write("a1.sql", HEAD.format(seconds=1) + STEAL.format(wait))
    started = time.monotonic()

    rules.run_with_failures()

    assert time.monotonic() - started < 15
    assert rows(OUTCOME) == [("timed out", "more than 1 seconds")]


@pytest.mark.parametrize(
    "write",
    [
        "SELECT nextval('validation_version') FROM set_config('transaction_read_only', 'off', false)",
        "SELECT nextval('validation_version') FROM set_config('default_transaction_read_only', 'off', false)",
    ],
)
def test_a_transaction_stays_read_only(rules: Rules, committing_api, rows, write: str) -> None:
    rules.write("a1.sql", HEAD.format(seconds=30) + STEAL.format(write))

    rules.run_with_failures()

    assert rows(RESULTS) == []


def test_other_databases_are_not_reached_by_dblink(rules: Rules, committing_api, rows) -> None:
    """Where a superuser has installed it: it needs a password, and the server's own account has none."""
    superuser.execute_elsewhere("CREATE EXTENSION dblink")
    try:
        rules.write("a1.sql", HEAD.format(seconds=30) + STEAL.format(BY_DBLINK))

        rules.run_with_failures()

        assert rows(RESULTS) == []
    finally:
        superuser.execute_elsewhere("DROP EXTENSION dblink")


def test_without_a_login_rules_of_folders_are_not_run(rules: Rules, committing_api, rows, settings) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "RULE_LOGIN": {}, "BUNDLED_RULES": True}
    student(committing_api, "1")
    rules.write("s1.sql", STUDENTS)

    rules.run_with_failures()

    outcomes = dict(
        rows("SELECT r.identifier, t.outcome FROM validation_run_rule t JOIN validation_rule r ON r.id = t.rule_id")
    )
    assert outcomes.pop("S-1") == "failed"
    assert set(outcomes.values()) == {"published"}
    assert "MEADOWLARK_RULE_DATABASE_URL" in rules.check()[0]


def test_a_login_is_granted_what_rules_need(rules: Rules, committing_api, rows, settings) -> None:
    """By `migrate`, once an administrator of the server has made it."""
    superuser.execute_elsewhere("CREATE ROLE district_rules LOGIN")
    try:
        settings.EDFI_API = {**settings.EDFI_API, "RULE_LOGIN": {"user": "district_rules"}}
        student(committing_api, "1")
        rules.write("s1.sql", STUDENTS)
        rules.run_with_failures()
        call_command("migrate", verbosity=0)

        rules.run()

        assert [outcome for outcome, _ in rows(f"{OUTCOME} ORDER BY run_id")] == ["failed", "published"]
    finally:
        with connection.cursor() as cursor:
            cursor.execute("REVOKE SELECT ON document, organization_closure, resource_type FROM district_rules")
        superuser.execute_elsewhere("DROP ROLE district_rules")
