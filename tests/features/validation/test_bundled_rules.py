"""The bundled rules: what they find, what they almost find, and that repairs resolve it."""

import json

import pytest

from tests.features.validation.district import attendance, enrollment, programs, scheduling
from tests.features.validation.rules import Rules

OPEN = """
SELECT v.identifier, coalesce(r.student, r.natural_key), r.organization, r.key
  FROM validation_result r JOIN validation_rule v ON v.id = r.rule_id WHERE r.resolved_at IS NULL ORDER BY 1, 2, 3, 4
"""


@pytest.fixture
def rules(tmp_path, settings) -> Rules:
    """The bundled ones."""
    settings.EDFI_API = {**settings.EDFI_API, "RULES": (), "BUNDLED_RULES": True}
    return Rules(tmp_path)


def test_violations_are_found_and_repaired(rules, district, rows, standard) -> None:
    demographics = "ST-402" if standard == "6.1" else "ST-401"
    wrong = [
        *enrollment(district),
        *attendance(district),
        *scheduling(district),
        *programs(district),
    ]

    rules.run()

    section = "#courseOfferingReference.schoolId=77#courseOfferingReference.schoolYear=2026"
    assert rows(OPEN) == [
        ("AT-201", "201", 77, ""),
        ("AT-201", "201 named", 77, ""),
        ("AT-202", "202", 77, ""),
        ("EN-101", "101", 77, "2024-01-10"),
        ("EN-102", "102", 77, ""),
        ("EN-103", "103", 88, "77 2024-01-01"),
        ("EN-104", "104", 77, ""),
        ("PR-501", "501", 7, ""),
        ("PR-501", "501 away", 7, ""),
        ("PR-501", "501 late", 7, ""),
        *(
            (
                "SC-301",
                f"NK#courseOfferingReference.localCourseCode=C{section}"
                f"#courseOfferingReference.sessionName=Now#sectionIdentifier={name}",
                77,
                "",
            )
            for name in ("past staff", "without staff")
        ),
        ("SC-302", "302", 77, ""),
        ("SC-302", "302 dates", 77, ""),
        ("SC-302", "302 dates", 77, ""),
        (demographics, "401", 77, "77"),
        (demographics, "401 elsewhere", 88, "88"),
        (demographics, "401 no race", 77, "77"),
    ]
    for path in wrong:
        assert district.api.delete(path).status_code == 204
    rules.run()
    assert rows(OPEN) == []


@pytest.mark.django_db
def test_all_can_be_planned(rules) -> None:
    assert rules.check() == ["14 rules without problems, 1 for other standards"]


def test_keys_that_look_equal_are_found(rules, district, rows) -> None:
    """The second one offends, and names the first."""
    api = district.api
    student = {"firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
    for unique_id in ("Ab-1", "AB-1", "Ab-1\u200b", "Ab-2"):
        assert api.post("/students", student | {"studentUniqueId": unique_id}).status_code == 201
    for unique_id in ("Jos\u00e9", "Jose\u0301", "Jose"):
        staff = {"staffUniqueId": unique_id, "firstName": "Mae", "lastSurname": "Ortiz"}
        assert api.post("/staffs", staff).status_code == 201

    rules.run()

    found = rows("""
        SELECT v.identifier, r.context
          FROM validation_result r JOIN validation_rule v ON v.id = r.rule_id
         WHERE r.resolved_at IS NULL AND starts_with(v.identifier, 'KY') ORDER BY r.id
    """)
    assert sorted(((identifier, json.loads(context)) for identifier, context in found), key=str) == [
        ("KY-601", {"studentUniqueId": "AB-1", "other": "Ab-1"}),
        ("KY-601", {"studentUniqueId": "Ab-1\u200b", "other": "Ab-1"}),
        ("KY-602", {"staffUniqueId": "Jose\u0301", "other": "Jos\u00e9"}),
    ]
