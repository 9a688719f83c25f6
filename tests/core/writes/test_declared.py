"""Rules in TOML: what their conditions mean, and what is wrong with files."""
# ruff: noqa: E501

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management.base import CommandError

from edfi_api.core.writes.rules.configured import configured_rules
from tests.core.writes.conftest import TENTH
from tests.support.factories import STUDENT
from tests.support.management_commands import printed, run
from tests.web.batch.operations import enrolment, student

RULE = """
[[rule]]
identifier = "T-1"
resource = "ed-fi/students"
member = "{member}"
condition = {{{condition}}}
text = "Not so."
"""
TODAY = datetime.now(UTC).date()
NAME_TYPE = "uri://ed-fi.org/OtherNameTypeDescriptor"
FULL = STUDENT | {
    "birthDate": "2010-02-03",
    "multipleBirthStatus": False,
    "otherNames": [
        {"otherNameTypeDescriptor": f"{NAME_TYPE}#Alias", "firstName": "May", "lastSurname": "Or"},
        {"otherNameTypeDescriptor": f"{NAME_TYPE}#Nickname", "firstName": "Mo", "lastSurname": "Or"},
    ],
}
BUNDLED = [
    f"bundled:{name}" for name in ("EN-1", "EN-2", "EN-3", "EN-4", "ST-1", "ST-2", "ST-3", "ST-4", "SE-1", "SE-2")
]

HOLDS = [
    ("$.lastSurname", 'in = ["Lund", "Ortiz"]'),
    ("$.lastSurname", 'equals = "Ortiz"'),
    ("$.lastSurname", 'not_in = ["ortiz"]'),
    ("$.lastSurname", 'not_equals = {member = "$.firstName"}'),
    ("$.lastSurname", 'matches = "[A-Z][a-z]+"'),
    ("$.lastSurname", r"matches = '\w+'"),
    ("$.lastSurname", r"matches = '(?i)[\D\d]{,4}TIZ\Z'"),
    ("$.middleName", 'in = ["never"]'),
    ("$.middleName", "present = false"),
    ("$.lastSurname", "present = true, unchanged = true"),
    ("$.birthDate", 'at_least = "2010-02-03", at_most = "2010-02-03"'),
    ("$.birthDate", 'above = "2010-02-02", below = "2010-02-04"'),
    ("$.birthDate", "at_most = {today = 0}"),
    ("$.multipleBirthStatus", "equals = false"),
    ("$.birthDate", "at_least = 5"),
    ("$.otherNames[*].otherNameTypeDescriptor", 'in = ["alias", "uri://ed-fi.org/othernametypedescriptor#NICKNAME"]'),
    ("$.otherNames[*].firstName", 'not_in = {member = "$.firstName"}'),
    ("$.lastSurname", 'in = {member = "$.middleName"}'),
    ("$.lastSurname", 'equals = {stored = "$.firstName"}'),
]
FAILS = [
    ("$.lastSurname", 'in = ["Lund", "ortiz"]', "$.lastSurname"),
    ("$.lastSurname", 'not_in = ["Ortiz"]', "$.lastSurname"),
    ("$.lastSurname", 'matches = "[A-Z]"', "$.lastSurname"),
    ("$.lastSurname", r"matches = '\W+|\d+|[\s\d]+'", "$.lastSurname"),
    ("$.lastSurname", "present = false", "$.lastSurname"),
    ("$.middleName", "present = true", "$.middleName"),
    ("$.birthDate", 'above = "2010-02-03"', "$.birthDate"),
    ("$.birthDate", 'at_least = {member = "$.lastSurname"}', "$.birthDate"),
    ("$.birthDate", "at_least = {today = -365}", "$.birthDate"),
    ("$.otherNames[*].otherNameTypeDescriptor", 'not_in = ["Nickname"]', "$.otherNames[1].otherNameTypeDescriptor"),
    ("$.otherNames[*].firstName", 'matches = "May"', "$.otherNames[1].firstName"),
]


@pytest.fixture
def names(api):
    """The descriptors of the student with all these members."""
    for code in ("Alias", "Nickname"):
        body = {"namespace": "uri://ed-fi.org/OtherNameTypeDescriptor", "codeValue": code, "shortDescription": code}
        assert api.post("/otherNameTypeDescriptors", body).status_code == 201


@pytest.mark.parametrize(("member", "condition"), HOLDS)
@pytest.mark.usefixtures("names")
def test_a_condition_that_holds_lets_the_document_through(api, declared, member, condition):
    declared(RULE.format(member=member, condition=condition))

    assert api.post("/students", FULL).status_code == 201


@pytest.mark.parametrize(("member", "condition", "path"), FAILS)
@pytest.mark.usefixtures("names")
def test_a_condition_that_does_not_hold_is_found_at_its_value(api, declared, member, condition, path):
    declared(RULE.format(member=member, condition=condition))

    response = api.post("/students", FULL)

    assert (response.status_code, response.json()["validationErrors"]) == (400, {path: ["Not so."]})


def test_letters_and_digits_are_those_of_all_scripts(api, declared):
    declared(RULE.format(member="$.lastSurname", condition=r"matches = '\w+[\w\s]\d?'"))

    assert [
        api.post("/students", STUDENT | {"lastSurname": name}).status_code for name in ("Núñez", "山田", "Ñ\u00a0٣")
    ] == [
        201,
        200,
        200,
    ]
    assert api.post("/students", STUDENT | {"lastSurname": "O'Neil"}).status_code == 400


def test_no_pattern_holds_up_a_request(api, declared):
    """It would take a backtracking engine longer than there is time, without any other thread of the process."""
    declared(RULE.format(member="$.lastSurname", condition=r"matches = '(\w+\s?)+'"), WRITE_RULE_MILLISECONDS=50)

    response = api.post("/students", STUDENT | {"lastSurname": "a" * 60 + "!"})

    assert (response.status_code, response.json()["validationErrors"]) == (400, {"$.lastSurname": ["Not so."]})


def test_unchanged_and_stored_look_at_what_is_replaced(api, declared):
    declared(RULE.format(member="$.birthDate", condition='unchanged = true, at_least = {stored = "$.birthDate"}'))
    assert api.post("/students", STUDENT).status_code == 201
    assert api.post("/students", STUDENT | {"lastSurname": "Lund"}).status_code == 200

    response = api.post("/students", STUDENT | {"birthDate": "2011-01-01"})

    assert response.json()["validationErrors"] == {"$.birthDate": ["Not so."]}


def test_a_condition_follows_references_and_finds_documents(batch, district, declared):
    declared(
        """
[[rule]]
identifier = "E-1"
resource = "ed-fi/StudentSchoolAssociation"
member = "$.entryGradeLevelDescriptor"
condition = {in = {reference = "$.schoolReference", member = "$.gradeLevels[*].gradeLevelDescriptor"}}
text = "The school does not offer this grade level."
[[rule]]
identifier = "E-2"
severity = "warn"
resource = "ed-fi/studentSchoolAssociations"
member = "$.schoolReference.schoolId"
text = "The student is enrolled at another school."
when = [{member = "$.entryDate", condition = {at_least = "2025-01-01"}}]
[rule.condition.in]
find = "ed-fi/studentSchoolAssociations"
where = {studentUniqueId = "$.studentReference.studentUniqueId"}
member = "$.schoolReference.schoolId"
"""
    )

    results = batch.independent(
        enrolment(1, entryGradeLevelDescriptor=TENTH),
        enrolment(1),
        enrolment(1, 2, entryDate="2024-01-01"),
        enrolment(1, 2),
    )

    assert [result["status"] for result in results] == [400, 201, 201, 201]
    assert "warnings" not in results[2]
    assert "warnings" not in results[3]  # One of those found, that of the operation before, is at this school.
    [again] = batch.independent(enrolment(1, 1, entryDate="2026-01-01"))
    assert again["status"] == 201


WRONG = [
    ("x = 1", "/declared.toml: has no table [[rule]]"),
    ("[[rule]", "not TOML"),
    ("[[rule]]\nidentifier = 1", ":2: 'resource' is missing"),
    (RULE.format(member="birthDate", condition="present = true"), ":3: member has to be a path such as $.entryDate"),
    (RULE.format(member="$.shoeSize", condition="present = true"), ":3: Student has no member $.shoeSize"),
    (RULE.format(member="$.birthDate", condition="like = 1"), ":3: condition.like is no operator; there are in, equals"),
    (RULE.format(member="$.birthDate", condition='matches = "("'), ":3: condition.matches is no regular expression"),
    (RULE.format(member="$.birthDate", condition="matches = 1"), ":3: condition.matches has to be a text"),
    (RULE.format(member="$.birthDate", condition="matches = '(?!2).*'"), "look-ahead and look-behind cannot be expressed"),
    (RULE.format(member="$.birthDate", condition="matches = '.*(?<=0)'"), "look-ahead and look-behind cannot be expressed"),
    (RULE.format(member="$.birthDate", condition=r"matches = '(.)\1'"), "back references cannot be expressed"),
    (RULE.format(member="$.birthDate", condition="matches = '(?P<a>.)(?P=a)'"), "back references cannot be expressed"),
    (RULE.format(member="$.birthDate", condition=r"matches = '[^\W\d_]+'"), r"\W between brackets cannot be expressed"),
    (RULE.format(member="$.birthDate", condition="matches = 'a{1001}'"), "a repetition has at most 1,000 items"),
    (RULE.format(member="$.birthDate", condition="in = []"), ":3: condition.in has to be a list of texts or numbers"),
    (RULE.format(member="$.birthDate", condition="in = {x = 1}"), ":3: condition.in has to have the members of one of"),
    (
        RULE.format(member="$.birthDate", condition='in = {reference = "$.schoolReference", member = "$.x"}'),
        ":3: Student has no reference $.schoolReference; there are $.personReference",
    ),
    (
        RULE.format(member="$.birthDate", condition='in = {find = "ed-fi/schools", where = {colour = 1}, member = "$.x"}'),
        ":3: ed-fi/schools has no query field colour",
    ),
    (RULE.format(member="$.birthDate", condition="present = true").replace("ed-fi", "tpdm"), "has no resource tpdm/"),
    (RULE.format(member="$.birthDate", condition="present = true") * 2, "has the name 'tests/T-1' already"),
    (RULE.format(member="$.birthDate", condition="present = true") + 'severity = "bad"', "has to be one of refuse, warn"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_with_a_file_is_reported_with_its_line(db, declared, tmp_path, text, message):
    declared(text)

    assert any(message in problem for problem in configured_rules().problems), configured_rules().problems
    with pytest.raises(CommandError, match="in rules"):
        printed("check_rules", tmp_path / "declared.toml")


def test_check_rules_counts_rules_that_fit_and_leaves_out_those_of_other_standards(db, declared):
    rule = RULE.format(member="$.birthDate", condition="present = true")
    declared(rule + rule.replace("T-1", "T-2") + 'standards = ["1.0"]')

    assert run("check_rules")[-1] == "1 write rule without problems, 1 for other standards"


def test_names_that_are_nothing_are_problems(rules):
    rules("nowhere.rules", "/nowhere.toml", "bundled:XX-1", "json")

    assert [problem.partition(";")[0] for problem in configured_rules().problems] == [
        "nowhere.rules: cannot be imported: ModuleNotFoundError: No module named 'nowhere'",
        "/nowhere.toml: there is no such file or folder",
        "bundled:XX-1: there is no such rule",
        "json: has no function that is marked by @on_write",
    ]


def test_the_server_checks_its_rules(rules):
    rules("nowhere.rules")

    with pytest.raises(Exception, match=r"nowhere\.rules: cannot be imported"):
        printed("check")


def test_bundled_rules_fit_every_standard_that_they_name(rules):
    rules(
        *(
            f"bundled:{name}"
            for name in ("EN-1", "EN-2", "EN-3", "EN-4", "SE-1", "SE-2", "ST-1", "ST-2", "ST-3", "ST-4")
        )
    )

    found = configured_rules()

    assert (found.problems, len(found.rules) + len(found.left_out)) == ((), 10)


def test_bundled_rules_at_the_door(api, batch, district, rules):
    rules(
        "bundled:EN-1", "bundled:EN-2", "bundled:EN-3", "bundled:EN-4", "bundled:ST-1", "bundled:ST-2", "bundled:ST-3"
    )
    late = (TODAY + timedelta(days=400)).isoformat()

    results = batch.independent(
        enrolment(1, entryGradeLevelDescriptor=TENTH),
        enrolment(1, exitWithdrawDate="2025-08-19"),
        enrolment(1, entryDate=late),
        student(3),
        student(4, studentUniqueId="4", birthDate=late),
        student(5, studentUniqueId="5"),
        student(5, studentUniqueId="5", birthDate="2010-01-14"),
    )

    assert [result["status"] for result in results] == [400, 400, 201, 400, 400, 201, 200]
    assert [each["rule"] for result in results for each in result.get("warnings", ())] == [
        "bundled/EN-4",
        "bundled/ST-2",
    ]
