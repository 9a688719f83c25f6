"""Each option of each command with bad values: an error of one line, without a traceback."""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import DjangoHelpFormatter

from edfi_api.features.sql_views.current import CurrentViews
from edfi_api.features.sql_views.current import current_views as sql_views_of
from meadowlark.run.command_line import main
from tests.features.loading.interchange.documents import descriptor, interchange

TOP = Path(__file__).parents[3]
PACKAGES = ("descriptors", "edfi_api", "references")
COMMANDS = {name: app for name, app in get_commands().items() if app.split(".")[0] in PACKAGES}

# By command and option (or argument): the other arguments of the command.
NEEDED: dict[str, dict[str, list[str]]] = {
    "add_connection": {
        "name": ["connection-{number}"],
        "direction": ["pull"],
        "address": ["https://127.0.0.1/"],
        "key": ["--key", "key"],
        "client": ["--client", "client"],
        "secret_env": ["--secret-env", "PATH"],
    },
    "check_connection": {"name": ["connection"]},
    "enable_connection": {"name": ["connection"]},
    "list_connections": {},
    "mail_open_causes": {},
    "remove_connection": {"name": ["removed"]},
    "migrate": {"app_label": ["edfi_api"]},
    "run_exchange": {"is_listed": ["--list"]},
    "pull_changes": {"name": ["connection"]},
    "push_changes": {"name": ["connection"]},
    "add_data_store_derivative": {
        "data_store": ["1"],
        "type": ["Snapshot"],
        "url": ["--url", "dbname=x"],
    },
    "assign_data_stores": {"client": ["client"], "none": ["--none"]},
    "assign_profiles": {"application": ["client"], "names": ["Portal"]},
    "check_data_stores": {},
    "check_model": {},
    "check_rules": {},
    "clone_data_store": {"source": ["1"], "name": ["name"], "url": ["--url", "host=127.0.0.1 port=1 dbname=x"]},
    "create_api_client": {"name": ["client {number}"], "claim_set": ["--claim-set", "EdFiSandbox"]},
    "check_sql_views": {},
    "create_management_client": {"name": ["operator {number}"]},
    "create_publication": {},
    "create_query_index": {"index": ["students.birthDate"]},
    "create_sql_views": {},
    "create_sandbox": {"name": ["lakeside"], "shape": ["--shape", "sis"], "vendor": ["--vendor", "nobody"]},
    "create_tenant": {"name": ["tenant-{number}"]},
    "describe_surface": {},
    "disable_api_client": {"client": ["client"]},
    "disable_management_client": {"name": ["operator"]},
    "drop_data_store": {"data_store": ["1"], "yes": ["--yes", "name"]},
    "drop_query_index": {"index": ["students.birthDate"]},
    "drop_sandbox": {"name": ["lakeside"], "yes": ["--yes", "lakeside"]},
    "drop_sql_views": {},
    "export_dbt_sources": {"output": ["--output", "sources.yml"]},
    "export_api_schema": {"output": ["--output", "ApiSchema.json"]},
    "export_claim_set": {"name": ["SISVendor"]},
    "export_documents": {"output": ["--output", "exported"]},
    "export_refusals": {},
    "generate_demo_district": {"output": ["--output", "district"], "students": ["--students", "200"]},
    "list_api_clients": {},
    "list_data_stores": {},
    "list_management_clients": {},
    "list_profiles": {},
    "list_query_indexes": {},
    "list_tenants": {},
    "load_claim_sets": {"files": ["claims.json"]},
    "import_ods check": {"source": ["--from", "host=127.0.0.1 port=1 dbname=x"]},
    "import_ods clients": {
        "admin": ["--admin", "host=127.0.0.1 port=1 dbname=x"],
        "security": ["--security", "host=127.0.0.1 port=1 dbname=x"],
    },
    "import_ods compare": {"source": ["--from", "host=127.0.0.1 port=1 dbname=x"]},
    "import_ods documents": {"source": ["--from", "host=127.0.0.1 port=1 dbname=x"]},
    "import_table": {
        "file": ["students.csv"],
        "client": ["--client", "client"],
        "resource": ["--resource", "students"],
    },
    "index_names": {},
    "index_owners": {},
    "issue_question_token": {"name": ["reader"]},
    "load_descriptors": {"paths": ["Descriptors.xml"]},
    "load_documents": {"paths": ["schoolYearTypes.jsonl"], "processes": ["--processes", "0"]},
    "load_interchange": {"paths": ["Descriptors.xml"]},
    "load_profiles": {"files": ["profiles.json"]},
    "load_school_years": {"years": ["2025-2026"], "current": ["--current", "2026"]},
    "migrate_data_stores": {},
    "provision_data_store": {"name": ["name"], "url": ["--url", "host=127.0.0.1 port=1 dbname=x"]},
    "purge_refusals": {},
    "purge_changes": {},
    "purge_questions": {},
    "purge_tables": {},
    "purge_validation": {},
    "refresh_sql_views": {},
    "refuse_tokens": {"issuer": ["--issuer", "https://login.example.org"]},
    "remove_profile": {"name": ["Portal"]},
    "report_run": {"client": ["--client", "client"]},
    "reset_sandbox": {"name": ["lakeside"]},
    "reset_second_factor": {"user": ["olga"]},
    "restore_document": {"ids": ["00000000-0000-4000-8000-000000000000"]},
    "rotate_management_secret": {"name": ["operator"]},
    "rotate_secret": {"client": ["client"]},
    "rotate_store_key": {},
    "run_handlers": {"once": ["--once"]},
    "run_mcp": {"person": ["--person", "reader"]},
    "run_schedule": {"is_listed": ["--list"]},
    "run_validation": {},
    "set_data_store_state": {"data_store": ["1"], "state": ["online"]},
    "smoke_test": {"key": ["--key", "key"]},
    "stream_changes": {"consumer": ["--consumer", "consumer"]},
    "validate_documents": {},
    "verify_integrity": {},
}
FILES = {
    "Descriptors.xml": interchange(descriptor("Sex", "Green"), kind="Descriptors"),
    "schoolYearTypes.jsonl": '{"schoolYear": 2030, "currentSchoolYear": false, "schoolYearDescription": "2029-2030"}',
    "claims.json": "{}",
    "profiles.json": '{"profiles": []}',
}
BAD = [
    "",
    " ",
    "foo",
    "-1",
    "0",
    "1.5",
    "²",
    "99999999999",
    "9" * 30,
    "2027-13-01",
    "0001-01-01T00:00:00+14:00",
    "0000-9999",
    "9999",
    "101%",
    "-5%",
    "nan",
    "no/such/path",
    "/dev/null/file",
    ".",
    "\udcff",
    "two\nlines",
    "\x1b[2J",
    "'; --",
    "%s {0} \\",
    "x" * 5000,
]
# A client of an existing application takes the claim set of the application.
CONTRADICTIONS = {
    ("create_api_client", "application"): {"claim_set"},
    ("assign_data_stores", "data_stores"): {"none"},
    ("add_data_store_derivative", "env"): {"url"},
    ("provision_data_store", "env"): {"url"},
    ("run_mcp", "http"): {"person"},
    ("import_ods check", "env"): {"source"},
    ("import_ods check", "admin_env"): {"admin"},
    ("import_ods clients", "admin_env"): {"admin"},
    ("import_ods clients", "security_env"): {"security"},
    ("import_ods compare", "env"): {"source"},
    ("import_ods documents", "env"): {"source"},
}
# Valid values, which would generate a district.
VALID = {
    ("generate_demo_district", "output"): set(BAD) - {"", " ", "/dev/null/file", ".", "\udcff", "\x1b[2J", "x" * 5000},
    ("generate_demo_district", "students"): {"9999"},
}
# An export reads one snapshot, so its transaction must be the outermost.
# A run of rules has connections of its own.
WITH_OWN_TRANSACTION = {"export_documents", "run_validation"}
WITH_CURRENT_VIEWS = ("check_sql_views", "create_sql_views", "export_dbt_sources")
# Reports the reason for each id on a separate line.
REPORTS_BY_ID = "restore_document"


def options() -> Iterator[tuple[str, argparse.Action]]:
    """Options with a value, except those that Django adds to every command."""
    for command, parser in parsers():
        for action in parser._actions:
            if action.nargs != 0 and not set(action.option_strings) & DjangoHelpFormatter.show_last:
                yield command, action


def parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the parsers of every command, or of the words that say what it does."""
    for command, app in sorted(COMMANDS.items()):
        parser = load_command_class(app, command).create_parser("manage.py", command)
        words = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        yield from ((f"{command} {word}", each) for choices in words for word, each in choices.items())
        if not words:
            yield command, parser


def parameters(*, have_own_transaction: bool) -> Iterator[Any]:
    """The options of these commands: with a third of the values, and with the others in `make test-long`."""
    for number, (command, option) in enumerate(options()):
        if (command in WITH_OWN_TRANSACTION) is have_own_transaction:
            name = f"{command} {option.dest}"
            tried = BAD[number % 3 :: 3]
            others = [value for value in BAD if value not in tried]
            yield pytest.param(command, option, tried, id=name)
            yield pytest.param(command, option, others, id=f"{name}: others", marks=pytest.mark.long)


@pytest.fixture(scope="session")
def current_views(django_db_setup, django_db_blocker) -> Callable[[str], CurrentViews]:
    with django_db_blocker.unblock():
        views = sql_views_of("default")
    return lambda _: views


@pytest.fixture
def ended(tmp_path, monkeypatch, capfd, current_views):
    """Runs a command in a folder with FILES; returns its status and standard error."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("django.setup", lambda: None)  # Logging would keep writing to the captured standard error.
    for command in WITH_CURRENT_VIEWS:  # Deriving them takes seconds, and does not depend on options.
        monkeypatch.setattr(f"edfi_api.features.sql_views.management.commands.{command}.current_views", current_views)

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["manage.py", *arguments])
        status = 0
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        return status, capfd.readouterr().err

    return run


@pytest.mark.django_db
@pytest.mark.parametrize(("command", "option", "values"), list(parameters(have_own_transaction=False)))
def test_a_bad_value_is_reported_in_one_line(ended, command: str, option: argparse.Action, values: list[str]) -> None:
    assert_reported_in_one_line(ended, command, option, values)


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize(("command", "option", "values"), list(parameters(have_own_transaction=True)))
def test_a_bad_value_of_a_command_with_its_own_transaction(
    ended, command: str, option: argparse.Action, values: list[str]
) -> None:
    assert_reported_in_one_line(ended, command, option, values)


def assert_reported_in_one_line(ended, command: str, option: argparse.Action, values: list[str]) -> None:
    left_out = {option.dest} | CONTRADICTIONS.get((command, option.dest), set())
    others = [part for name, parts in NEEDED[command].items() if name not in left_out for part in parts]

    for number, value in enumerate(values):
        if value in VALID.get((command, option.dest), ()):
            continue
        tried = [f"{option.option_strings[0]}={value}"] if option.option_strings else ["--", value]
        status, err = ended(*command.split(), *(part.format(number=number) for part in others), *tried)

        assert "Traceback" not in err
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", err), value
        if status and command != REPORTS_BY_ID:
            assert len(err.splitlines()) == 1, (value, err)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ["verify_integrity", "--database", "foo"],
            "manage.py verify_integrity: error: argument --database: invalid choice: 'foo' (choose from 'default')",
        ),
        (
            ["create_api_client", "tests", "--claim-set", "EdFiSandbox", "--expires", "2027-13-01"],
            "manage.py create_api_client: error: argument --expires: '2027-13-01' is not a date such as 2027-07-01 or "
            "2027-07-01T12:00",
        ),
        (
            ["purge_changes", "--days", "-1"],
            "manage.py purge_changes: error: argument --days: -1 is not between 0 and 36500",
        ),
        (["load_documents", ""], "manage.py load_documents: error: argument PATH: it is empty"),
        (["check", "foo"], "No installed app with label 'foo'."),
    ],
)
def test_only_the_reason_is_printed(ended, arguments: list[str], reason: str) -> None:
    status, err = ended(*arguments)

    assert status in (1, 2)
    assert err == f"{reason}\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["load_documents", os.fsencode("\udcff")], "CommandError: \\udcff does not exist"),
        (
            ["check_model", os.fsencode("\udcff")],
            "manage.py check_model: error: argument PATH: '\\udcff': no such folder or file; "
            "bundled are: 3.3.1-b, 4.0, 5.2, 6.1",
        ),
        (
            ["migrate", "--database", "foo"],
            "manage.py migrate: error: argument --database: invalid choice: 'foo' (choose from 'default')",
        ),
        (["check", "--settings", "foo"], "There is no settings module 'foo'."),
    ],
)
def test_a_process_prints_only_the_reason(arguments: list[str | bytes], reason: str) -> None:
    command = [sys.executable, "manage.py", *arguments]

    ended = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)

    assert ended.returncode in (1, 2)
    assert ended.stderr == f"{reason}\n"
