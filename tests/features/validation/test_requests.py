"""Runs that clients request, and the command that runs them."""

import threading
from io import StringIO
from uuid import UUID

import orjson
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from openapi_spec_validator import validate

from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from edfi_api.web.metadata.fixed_documents import DOCUMENTS
from tests.conftest import ApiTestClient
from tests.features.validation.api import RULES, RUNS, client, found
from tests.features.validation.conftest import student
from tests.features.validation.rules import EACH, STUDENTS, write

RUN_OF = "SELECT started_by, status FROM validation_run WHERE run_uuid = %s"


@pytest.fixture
def requestable(settings, rules) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "VALIDATION_REQUESTS": True}


def run_requested() -> tuple[list[str], list[str]]:
    """The lines that name the runs, and those on standard error."""
    out, err = StringIO(), StringIO()
    call_command("run_validation", "--requested", stdout=out, stderr=err)
    return [line for line in out.getvalue().splitlines() if line.startswith("run ")], err.getvalue().splitlines()


def status_of(api: ApiTestClient, location: str) -> str:
    answer = api.get(location.removeprefix("http://testserver"))
    assert answer.status_code == 200, answer.content
    return str(answer.json()["runStatusDescriptor"].partition("#")[2])


def test_the_example_of_the_documentation_is_accepted(requestable, rules, committing_api, surface) -> None:
    document = DOCUMENTS["validation"](surface, "http://testserver")
    described = document["paths"]["/validationRuns"]["post"]["requestBody"]["content"]["application/json"]

    assert client(77).post(RUNS, described["example"]).status_code == 202


def test_a_requested_run_is_run_over_the_organizations_of_the_client(
    requestable, rules, committing_api, enroll, rows
) -> None:
    enroll("A", 77)
    enroll("B", 78)
    write(rules, "R-1", EACH)
    write(rules, "R-2", EACH, category="other")
    rules.run("--rule", "R-2")
    one = client(77)

    answer = one.post(RUNS, {"rules": ["R-1"]})

    location = answer["Location"]
    assert answer.status_code == 202
    assert location.startswith("http://testserver/validation/v1/validationRuns/")
    assert status_of(one, location) == "Requested"
    assert client(77).get(location.removeprefix("http://testserver")).status_code == 404
    runs, _ = run_requested()
    assert len(runs) == 1
    assert run_requested() == ([], [])
    assert status_of(one, location) == "Completed"
    assert [rule for rule, *_ in found(one)] == ["R-1", "R-2"]
    assert [rule for rule, *_ in found(client(78))] == ["R-2"]
    [[by, status]] = rows(RUN_OF, UUID(location.rpartition("/")[2]))
    assert by.startswith("client ") and status == "Completed"


def test_a_client_has_one_request_an_hour(requestable, rules, committing_api, enroll) -> None:
    enroll("A", 77)
    write(rules, "R-1", EACH)
    rules.run()
    one = client(77)
    assert one.post(RUNS, {}).status_code == 202
    waiting = one.post(RUNS, {})
    run_requested()
    after = one.post(RUNS, {})

    assert (waiting.status_code, after.status_code) == (429, 429)
    assert 3500 < int(after["Retry-After"]) <= 3600
    with connection.cursor() as cursor:
        cursor.execute("UPDATE validation_request SET requested_at = now() - interval '1 hour 1 second'")
    assert one.post(RUNS, {}).status_code == 202
    assert client(77).post(RUNS, {}).status_code == 202


def test_of_simultaneous_requests_of_a_client_one_is_accepted(requestable, rules, committing_api, enroll) -> None:
    enroll("A", 77)
    one = client(77)
    statuses: list[int] = []

    def request() -> None:
        try:
            statuses.append(one.post(RUNS, {}).status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=request) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(statuses) == [202, 429, 429, 429, 429, 429]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"rules": ["R-9"]}, "$.rules[0]"),
        ({"rules": "R-1"}, "$.rules"),
        ({"rules": [1]}, "$.rules[0]"),
        ({"categories": ["c", "none"]}, "$.categories[1]"),
        ({"everything": True}, "$.everything"),
    ],
)
def test_a_request_for_what_there_is_not_is_refused(requestable, rules, committing_api, body, path) -> None:
    rules.write("students.sql", STUDENTS.replace('"Students"', '"c"').replace("S-1", "R-1"))
    rules.run()

    answer = client(1).post(RUNS, body)

    assert answer.status_code == 400
    assert list(answer.json()["validationErrors"]) == [path]


def test_requests_have_to_be_switched_on(rules, committing_api) -> None:
    answer = client(1).post(RUNS, {})

    assert answer.status_code == 405
    assert "POST" not in answer["Allow"]


def test_a_request_needs_the_action_create_and_an_organization(requestable, committing_api) -> None:
    grants = [{"claims": ["ed-fi-x-validations/validationRun"], "actions": ["Read"]}]
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Readers of runs", "grants": grants}]})), by="tests")

    assert client(1, claim_set="Readers of runs").post(RUNS, {}).status_code == 403
    assert client().post(RUNS, {}).status_code == 403
    assert client(1).post(RULES, {}).status_code == 405


def test_who_may_not_request_runs_does_not_learn_the_names_of_rules(requestable, rules, committing_api) -> None:
    rules.write("students.sql", STUDENTS)
    rules.run()
    grants = [{"claims": ["ed-fi/student"], "actions": ["Read"]}]
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Readers of students", "grants": grants}]})), by="tests")

    for one in (client(1, claim_set="Readers of students"), client()):
        answer = one.post(RUNS, {"rules": ["x"], "categories": ["x"]})

        assert answer.status_code == 403
        assert "S-1" not in answer.content.decode()


def test_a_run_that_was_stopped_is_not_begun_again(requestable, rules, committing_api, enroll, rows) -> None:
    enroll("A", 77)
    write(rules, "R-1", EACH)
    one = client(77)
    location = one.post(RUNS, {})["Location"]
    with connection.cursor() as cursor:  # As a process that was killed leaves it.
        cursor.execute(
            "INSERT INTO validation_run (run_uuid, run_identifier, host, started_by, change_version)"
            " VALUES (%s, 'killed', 'gone', 'client', 0)",
            [location.rpartition("/")[2]],
        )

    assert run_requested() == ([], [f"the run {location.rpartition('/')[2]} was stopped before it ended"])
    assert run_requested() == ([], [])
    assert status_of(one, location) == "Stopped"


def test_a_run_of_some_organizations_leaves_the_next_one_incremental(rules, committing_api, rows) -> None:
    student(committing_api, "A")
    rules.write("students.sql", STUDENTS)
    rules.run()
    rules.run("--organization", "1", "--full")
    student(committing_api, "B")

    rules.run()

    assert rows("SELECT is_full FROM validation_run_rule ORDER BY run_id") == [(True,), (True,), (False,)]


def test_options_that_exclude_each_other_are_refused(db) -> None:
    with pytest.raises(CommandError, match="exclude each other"):
        call_command("run_validation", "--requested", "--dry-run")


def test_a_request_for_a_rule_that_is_gone_does_not_stop_the_others(requestable, rules, committing_api, enroll) -> None:
    enroll("A", 77)
    write(rules, "R-1", EACH)
    write(rules, "R-2", EACH)
    rules.run()
    one, other = client(77), client(77)
    gone, kept = (each.post(RUNS, {"rules": [rule]})["Location"] for each, rule in ((one, "R-2"), (other, "R-1")))
    (rules.folder / "r-2.sql").unlink()

    runs, _ = run_requested()

    assert len(runs) == 2
    assert [status_of(one, gone), status_of(other, kept)] == ["Completed", "Completed"]


def test_the_openapi_document_has_requests_if_they_are_switched_on(surface, settings) -> None:
    assert "post" not in DOCUMENTS["validation"](surface, "http://testserver")["paths"]["/validationRuns"]
    settings.EDFI_API = {**settings.EDFI_API, "VALIDATION_REQUESTS": True}

    document = DOCUMENTS["validation"](surface, "http://testserver")

    assert "202" in document["paths"]["/validationRuns"]["post"]["responses"]
    validate(document)
