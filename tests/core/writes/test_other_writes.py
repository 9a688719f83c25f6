"""The same answers from batches, under profiles, and from loads."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError

from edfi_api.core.models import Document
from edfi_api.core.security.models import Application
from edfi_api.core.security.profiles.loading import assign_profiles, read_definitions, store_profiles
from tests.conftest import ApiTestClient, item_path, new_token
from tests.core.security.profiles.definitions import profile_xml
from tests.core.writes.conftest import RULES, TENTH
from tests.support.factories import STUDENT
from tests.support.management_commands import Printed, printed
from tests.web.batch.operations import enrolment, student
from tests.whole.architecture.request_path import path_of

CAPITAL = {"$.firstName": ["The first name has to begin with a capital letter."]}
ENROLLED = {"$.studentReference": ["The student is enrolled at another school."]}


def stored(resource: str) -> int:
    return Document.objects.filter(resource_type__name=resource).count()


@pytest.mark.parametrize("mode", ["independent", "atomic"])
def test_a_rule_sees_what_operations_before_have_written(batch, district, rules, mode):
    rules(RULES)

    response = batch.send(
        [enrolment(1), enrolment(2), enrolment(1, 2), enrolment(1, entryDate="2025-09-01")], mode=mode
    )

    if mode == "atomic":
        [failed] = response.json()["failedOperations"]
        assert stored("StudentSchoolAssociation") == 0
    else:
        assert [each.get("status") for each in response.json()] == [201, 201, 400, 201, None]
        failed = response.json()[2]
    assert (failed["index"], failed["problem"]["validationErrors"]) == (2, ENROLLED)


def test_rules_of_the_document_leave_sets_as_they_are(batch, api, rules):
    rules(RULES.replace("district_rules", "document_rules"))

    [first, second, third] = batch.independent(student(1), student(2, firstName="mae"), student(3, lastSurname="Lund"))

    assert second["problem"]["validationErrors"] == {
        "$.firstName": ["The first name has to begin with a capital letter."]
    }
    assert (first["status"], third["status"]) == (201, 201)
    assert third["warnings"] == [{"path": "$.lastSurname", "rule": "lund", "text": "Another Lund?"}]
    assert "warnings" not in first


def test_warnings_of_operations_that_go_alone_are_in_their_results(batch, api, rules):
    rules(RULES)
    assert batch.statuses(student(1)) == [201]

    [result] = batch.independent(student(1, birthDate="2011-01-01"))

    assert result["status"] == 200
    assert [each["rule"] for each in result["warnings"]] == ["birth-date"]


def test_a_batch_whose_rule_fails_can_be_sent_again(batch, api, rules):
    rules(RULES)

    response = batch.send([student(1), student(2, lastSurname="Error")], mode="atomic")

    assert response.status_code == 503
    assert stored("Student") == 0


@pytest.fixture
def bound(api) -> Callable[[str], ApiTestClient]:
    """A client that is bound by a profile of students with this rule."""

    def make(rule: str) -> ApiTestClient:
        store_profiles(read_definitions(profile_xml("Student", rule, rule, "Part")), by="tests")
        token = new_token("bound")
        assign_profiles(Application.objects.get(name="bound"), ["Part"], by="tests")
        return ApiTestClient(token)

    return make


def test_under_a_profile_rules_see_the_merged_document(api, rules, bound):
    path = item_path(api.post("/students", STUDENT | {"middleName": "No rule"}))
    client = bound('ExcludeOnly:<Property name="middleName"/>')
    rules(RULES)

    response = client.put(path, STUDENT | {"id": path.rpartition("/")[2], "lastSurname": "Lund"})

    assert response.json()["validationErrors"] == {"$": ["A document of ed-fi/students says so."]}


def test_what_rules_find_at_hidden_members_is_not_told(api, rules, bound):
    path = item_path(api.post("/students", STUDENT | {"middleName": "ann"}))
    client = bound('ExcludeOnly:<Property name="middleName"/>')
    rules("tests.core.writes.document_rules")
    changed = STUDENT | {"id": path.rpartition("/")[2], "lastSurname": "Lund"}

    response = client.put(path, changed)

    assert response.json()["type"] == "urn:ed-fi:api:data-policy-enforced"
    assert "middle" not in response.content.decode()
    assert api.put(path, changed | {"middleName": "ann"}).json()["validationErrors"] == {
        "$.middleName": ["The middle name has to begin with a capital letter."]
    }
    assert client.put(path, changed | {"lastSurname": "Ortiz"}).status_code == 400


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., tuple[Printed, dict[str, Any]]]:
    """Loads operations of batches as files; what was printed, and the report."""

    def load_operations(*operations: dict[str, Any], **options: Any) -> tuple[Printed, dict[str, Any]]:
        lines = [{"resource": each["resource"], "body": each["document"]} for each in operations]
        file, report = tmp_path / "documents.jsonl", tmp_path / "report.json"
        file.write_text("\n".join(map(json.dumps, lines)))
        output = printed("load_documents", str(file), "--report", str(report), **options)
        return output, json.loads(report.read_text())

    return load_operations


def test_a_load_gives_the_same_answers(api, district, rules, load):
    rules(RULES)

    of_another_grade, of_nobody = enrolment(2, entryGradeLevelDescriptor=TENTH), enrolment(9)
    _, report = load(enrolment(1), enrolment(1, 2), of_another_grade, of_nobody, student(3, firstName="mae"))

    assert [(each["line"], each["reason"]) for each in sorted(report["refusals"], key=lambda each: each["line"])] == [
        (2, "$.studentReference: The student is enrolled at another school."),
        (3, "$.entryGradeLevelDescriptor: School 1 lacks this grade level."),
        (4, report["refusals"][-1]["reason"]),
        (5, "$.firstName: The first name has to begin with a capital letter."),
    ]
    assert stored("StudentSchoolAssociation") == 1
    assert report["summary"]["rules"] == {"skipped": False, "warnings": []}


def test_a_load_in_free_order_runs_rules_when_everything_is_there(api, district, rules, load):
    rules(RULES)

    _, report = load(enrolment(3), enrolment(3, 2), student(3))

    assert [(each["line"], each["reason"]) for each in report["refusals"]] == [
        (2, "$.studentReference: The student is enrolled at another school.")
    ]
    assert stored("StudentSchoolAssociation") == 1


def test_a_load_counts_warnings_and_may_skip_rules(api, rules, load):
    rules(RULES)
    load(student(1))

    output, report = load(student(1, birthDate="2011-01-01"))
    assert report["summary"]["rules"]["warnings"] == [
        {
            "resource": "Student",
            "rule": "birth-date",
            "path": "$.birthDate",
            "text": "The birth date has changed: “really”?",
            "count": 1,
        }
    ]
    assert "(rule birth-date): 1 document" in output.err

    output, report = load(student(1, firstName="mae"), skip_rules=True)
    assert report["summary"]["rules"] == {"skipped": True, "warnings": []}
    assert "rules of writes were not run" in output.err
    assert Document.objects.get(resource_type__name="Student").body["firstName"] == "mae"


def test_rules_of_a_load_see_descriptors_as_they_are_stored(api, district, rules, load):
    rules("tests.core.writes.document_rules")

    _, report = load(enrolment(1, entryGradeLevelDescriptor=TENTH.upper()))

    assert (report["refusals"], stored("StudentSchoolAssociation")) == ([], 1)


def test_a_load_refuses_what_a_rule_cannot_check(api, rules, load):
    rules(RULES)

    with pytest.raises(CommandError, match="nothing was accepted"):
        load(student(1, lastSurname="Error"))

    assert stored("Student") == 0


def test_a_dry_run_runs_rules_beside_what_is_stored(api, district, rules, load):
    rules(RULES)
    load(enrolment(1))

    _, report = load(enrolment(1, 2), enrolment(2), dry_run=True)

    assert [each["line"] for each in report["refusals"]] == [1]
    assert stored("StudentSchoolAssociation") == 1


def test_documents_of_a_load_that_rules_do_not_compare_are_written_in_sets(api, district, rules, load):
    rules("bundled:EN-1", "bundled:EN-2", "bundled:ST-2")
    students = [student(number) for number in range(10, 40)]
    refused = enrolment(1, entryGradeLevelDescriptor=TENTH)

    reports = []

    path = path_of(lambda: reports.append(load(*students, student(10, birthDate="2011-01-01"), enrolment(2), refused)))

    [(_, report)] = reports
    assert [(each["line"], each["reason"]) for each in report["refusals"]] == [
        (33, "$.entryGradeLevelDescriptor: The school does not offer this grade level.")
    ]
    [warning] = report["summary"]["rules"]["warnings"]
    assert (warning["rule"], warning["count"]) == ("bundled/ST-2", 1)
    assert (stored("Student"), stored("StudentSchoolAssociation")) == (32, 1)
    # The student that the file has twice is changed by itself.
    assert sum(code.co_name == "write_staged" for code in path.calls) == 3
