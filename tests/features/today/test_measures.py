"""The file of measures."""

from datetime import date
from pathlib import Path

import pytest
from django.core.checks import run_checks

from edfi_api.features.today.counting import SchoolYear
from edfi_api.features.today.measures import BUNDLED, UnusableMeasures, current_measures, read_measures
from edfi_api.model.surface.resource import ResourceName

ENROLLED = """
[enrolled]
first_of = [
    { resource = "ed-fi/studentSchoolAssociations", school = "schoolReference.schoolId", student = "entryDate" },
]
"""
PROBLEMS = {
    "[": "not TOML",
    "silent_days = 7": "enrolled",
    ENROLLED.replace("schoolReference.schoolId", "school"): "has no member 'school' for 'school'",
    ENROLLED.replace("schoolReference.schoolId", "schoolReference"): "has no member 'schoolReference' for 'school'",
    ENROLLED.replace(', student = "entryDate"', ""): "'student' is missing",
    f"silent_days = 0\n{ENROLLED}": "silent_days",
    f"{ENROLLED}[[measure]]\nname = 'A b'\ntitle = 'A'\n": "name",
}


def test_the_bundled_file_measures_what_the_standard_has(surface):
    found = read_measures(BUNDLED, surface)

    assert found.schools == (ResourceName("Ed-Fi", "School"),)
    assert [each.name for each in found.measures] == ["demographics", "contacts", "schedule", "marks", "assessments"]


def test_resources_that_the_standard_lacks_are_left_out(surface, tmp_path):
    file = tmp_path / "measures.toml"
    lacking = "[[measure]]\nname = 'a'\ntitle = 'A'\nfirst_of = [{resource = 'tx/buses', student = 'x'}]\n"
    file.write_text(ENROLLED + lacking)

    assert read_measures(file, surface).measures == ()


@pytest.mark.parametrize(("text", "reason"), PROBLEMS.items())
def test_what_is_wrong_with_a_file_is_said(surface, tmp_path: Path, text, reason):
    file = tmp_path / "measures.toml"
    file.write_text(text)

    with pytest.raises(UnusableMeasures, match=reason):
        read_measures(file, surface)


def test_a_check_warns_of_a_file_that_cannot_be_used(settings, tmp_path):
    settings.EDFI_API = settings.EDFI_API | {"MEASURES": str(tmp_path / "missing.toml")}
    current_measures.cache_clear()
    warnings = [each for each in run_checks() if each.id == "edfi_api.W010"]
    current_measures.cache_clear()

    assert len(warnings) == 1
    assert warnings[0].msg.startswith("MEADOWLARK_MEASURES: ")


def test_days_outside_of_a_school_year_have_no_number_of_a_week() -> None:
    year = SchoolYear("2026", date(2025, 8, 18))

    assert [year.week(day) for day in (date(2025, 8, 22), date(2026, 5, 4), date(2026, 11, 29), date(2025, 8, 10))] == [
        1,
        38,
        None,
        None,
    ]
