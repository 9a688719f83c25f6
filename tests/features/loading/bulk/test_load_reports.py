"""Loads explain themselves: root causes of refusals, what was tolerated, and the JSON report."""

import json

import pytest

ABSENT = "referenced, but neither accepted from the files nor in the database, the first at"


def wrapped(*candidates):
    return [{"resource": each.resource.url_path, "body": each.body} for each in candidates]


def summary_of(path):
    return json.loads(path.read_text())["summary"]


def test_one_missing_file_is_one_line_that_says_how_many_follow_from_it(load, write, district, tmp_path):
    """The schools were forgotten: periods refer to them, schedules to both."""
    periods = [district.period(f"P{number}", school=1 + number % 3) for number in range(30)]
    schedules = [district.schedule(f"S{number}", f"P{number}", school=1 + number % 3) for number in range(30)]
    path = write("all.jsonl", *wrapped(*schedules, *periods, district.agency(1)))

    screen = load(path, report=tmp_path / "report.json")

    assert screen.err.splitlines() == [
        f"{path}:31: ClassPeriod: $.schoolReference: The referenced School item does not exist. " + '{"schoolId":1}',
        f"School: 3 documents are {ABSENT} {path}:31; 60 refused for that: 30 ClassPeriod, 30 BellSchedule",
    ]
    assert summary_of(tmp_path / "report.json")["causes"] == [
        {
            "number": 1,
            "resource": "School",
            "reason": None,
            "isAbsence": True,
            "absent": 3,
            "direct": 0,
            "following": 60,
            "followingByResource": {"ClassPeriod": 30, "BellSchedule": 30},
            "first": f"{path}:31",
        }
    ]


def test_what_refers_to_the_refused_is_counted_with_what_was_wrong_there(load, write, district, tmp_path):
    wrong = district.school(1, nameOfInstitution=None)
    path = write(
        "all.jsonl",
        *wrapped(wrong, district.school(2), *(district.period(f"P{number}", school=1) for number in range(9))),
        *wrapped(district.period("fine", school=2)),
    )

    screen = load(path, report=tmp_path / "report.json")

    fault = "School: $.nameOfInstitution: nameOfInstitution is required."
    assert screen.err.splitlines() == [
        f"{path}:1: {fault}",
        f"{fault}; 1 document, the first at {path}:1; 9 others refused for that: 9 ClassPeriod",
    ]
    refusals = json.loads((tmp_path / "report.json").read_text())["refusals"]
    assert [(each["resource"], each["cause"]) for each in refusals] == [("School", 1), *[("ClassPeriod", 1)] * 9]


def test_refusals_for_the_same_reason_are_one_cause_whatever_the_values(load, write, district):
    first = district.schedule("A", "P", "P")
    second = district.schedule("B", "Q", "R", "R")
    path = write("all.jsonl", *wrapped(first, second))

    screen = load(path, "--max-refused=2")

    assert screen.err.splitlines()[1:] == [
        "BellSchedule: $.classPeriods: The nth item of the classPeriods has the same identifying values as another "
        f"item earlier in the list.; 2 documents alike, the first at {path}:1"
    ]


def test_missing_descriptors_are_a_cause_of_their_own(load, write, district):
    unknown = "uri://ed-fi.org/GradeLevelDescriptor#Fifteenth grade"
    path = write("schools.jsonl", *(district.school(number, grade=unknown).body for number in (1, 2)))

    screen = load(path, "--max-refused=2")

    assert screen.err.splitlines()[1] == (
        f"GradeLevelDescriptor: 1 document is {ABSENT} {path}:1; 2 refused for that: 2 School"
    )


def test_causes_without_end_are_bounded(load, write, district, monkeypatch, tmp_path):
    monkeypatch.setattr("edfi_api.features.loading.reports.causes.MOST_CAUSES", 2)
    write("schools.jsonl", *({"schoolId": "x" * number} for number in range(1, 6)))

    load(tmp_path / "schools.jsonl", "--max-refused=5", report=tmp_path / "report.json")

    assert len(summary_of(tmp_path / "report.json")["causes"]) <= 2


def test_members_that_were_dropped_are_counted_by_path(load, write, district, tmp_path):
    grades = [{"gradeLevelDescriptor": district.school(1).body["gradeLevels"][0]["gradeLevelDescriptor"], "level": 9}]
    path = write(
        "schools.jsonl",
        *(district.school(number, colour="red", gradeLevels=grades).body for number in range(1, 5)),
        district.school(5, colour=None).body,
        district.school(6).body | {"id": None, "_etag": "1"},
        district.school("x", dropped="with the refused").body,
    )

    screen = load(path, report=tmp_path / "report.json")

    assert screen.err.splitlines()[1:] == [
        "School: $.colour: not a member of the resource, dropped from 5 places",
        "School: $.gradeLevels[*].level: not a member of the resource, dropped from 4 places",
    ]
    assert summary_of(tmp_path / "report.json")["tolerated"] == [
        {"resource": "School", "path": "$.colour", "reason": "unknown-member", "count": 5},
        {"resource": "School", "path": "$.gradeLevels[*].level", "reason": "unknown-member", "count": 4},
    ]


def test_what_waited_is_counted_once(load, write, district, tmp_path):
    write("localEducationAgencies.jsonl", district.agency(1, parent=2, colour="red").body, district.agency(2).body)

    load(tmp_path / "localEducationAgencies.jsonl", report=tmp_path / "report.json")

    assert [each["count"] for each in summary_of(tmp_path / "report.json")["tolerated"]] == [1]


def test_dropped_members_without_end_are_bounded(load, write, district, monkeypatch, tmp_path):
    monkeypatch.setattr("edfi_api.features.loading.reports.results.MOST_DIFFERENT", 10)
    write("schools.jsonl", *(district.school(number, **{f"m{number}": 1}).body for number in range(1, 31)))

    screen = load(tmp_path / "schools.jsonl")

    assert len(screen.err.splitlines()) == 11
    assert screen.err.splitlines()[-1] == "... and 20 more such places"


@pytest.mark.parametrize("is_strict", [True, False])
def test_the_setting_for_strict_handling_holds_for_loads(load, write, district, settings, is_strict):
    settings.EDFI_API = settings.EDFI_API | {"STRICT": is_strict}
    path = write("schools.jsonl", district.school(1, colour="red").body, district.school(2).body)

    screen = load(path)

    refused = f"{path}:1: School: $.colour: colour is not a member of this resource.\n"
    dropped = "School: $.colour: not a member of the resource, dropped from 1 place\n"
    assert screen.err == (refused if is_strict else dropped)
