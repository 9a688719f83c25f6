"""`validate_documents`: what rules find in what is stored."""

import json

import pytest
from django.core.management.base import CommandError

from tests.core.writes.conftest import RULES, TENTH
from tests.support.management_commands import printed
from tests.web.batch.operations import enrolment, student


@pytest.fixture
def stored(batch, district):
    batch.statuses(enrolment(1), enrolment(2, entryGradeLevelDescriptor=TENTH), student(3, firstName="mae"))


def test_rules_of_writes_run_over_what_is_stored(stored, rules, tmp_path):
    rules(RULES)
    report = tmp_path / "found.jsonl"

    with pytest.raises(CommandError, match="There are documents that rules would refuse"):
        printed("validate_documents", "--report", report)

    found = [json.loads(line) for line in report.read_text().splitlines()]
    assert {(each["rule"], each["severity"], each["path"]) for each in found} == {
        ("first-name", "refuse", "$.firstName"),
        ("grade-level", "refuse", "$.entryGradeLevelDescriptor"),
    }
    assert {each["naturalKey"] for each in found if each["resource"] == "ed-fi/students"} == {"NK#studentUniqueId=S3"}


def test_some_rules_and_resources_may_be_chosen(stored, rules):
    rules(RULES)

    output = printed("validate_documents", "--rule", "birth-date", "--resource", "ed-fi/students")

    assert output.out.splitlines() == ["3 documents checked, 0 findings"]
    with pytest.raises(CommandError, match="There is no rule no-such"):
        printed("validate_documents", "--rule", "no-such")


def test_what_a_rule_cannot_check_is_counted(batch, api, rules):
    batch.statuses(student(1, lastSurname="Error"), student(2))
    rules(RULES)

    with pytest.raises(CommandError):
        printed("validate_documents", "--rule", "by-name")
