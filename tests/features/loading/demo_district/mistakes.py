"""Searches for the errors that the page about the demo district lists, in the bodies of the district."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[4] / "meadowlark/docs/start/demo-district.md"
FIRST_DAY, END_OF_FALL = "2025-08-18", "2026-01-09"

Body = dict[str, Any]
Found = dict[str, list[Body]]


def student(body: Body) -> str:
    return body["studentReference"]["studentUniqueId"]


def enrollments(found: Found) -> dict[str, list[Body]]:
    by_student: dict[str, list[Body]] = {body["studentUniqueId"]: [] for body in found["Student"]}
    for body in found["StudentSchoolAssociation"]:
        by_student[student(body)].append(body)
    return by_student


def absences_before_entry(found: Found) -> list[Body]:
    entry = {student(body): body["entryDate"] for body in found["StudentSchoolAssociation"]}
    return [each for each in found["StudentSchoolAttendanceEvent"] if each["eventDate"] < entry[student(each)]]


def classes_without_teacher(found: Found) -> set[str]:
    taught = {str(body["sectionReference"]) for body in found["StaffSectionAssociation"]}
    return {str(body["sectionReference"]) for body in found["StudentSectionAssociation"]} - taught


def same_person(found: Found) -> list[tuple[str, ...]]:
    people = Counter((body["firstName"], body["lastSurname"], body["birthDate"]) for body in found["Student"])
    return [person for person, count in people.items() if count > 1]


def without_contact(found: Found) -> set[str]:
    """Enrolled students without a contact, except the one who is registered twice."""
    families = found.get("StudentContactAssociation") or found["StudentParentAssociation"]
    ones = {student(body) for body in found["StudentSchoolAssociation"]}
    return ones - {student(body) for body in families} - {"79000001"}


def demographics(found: Found) -> list[Body]:
    return found.get("StudentDemographic") or found["StudentEducationOrganizationAssociation"]


def listed() -> list[tuple[str, str]]:
    """The errors of the page, and the rules that find them."""
    return re.findall(r"^\| ([^|]+) \| `([A-Z]+-\d+)`[^|]*\|$", PAGE.read_text(), flags=re.MULTILINE)


# In the order of the page.
SEARCHES: tuple[Callable[[Found], Any], ...] = (
    lambda found: [each for each in enrollments(found).values() if len(each) > 1],
    lambda found: [e for e in found["StudentSchoolAssociation"] if e.get("exitWithdrawDate", "9") < e["entryDate"]],
    lambda found: [
        e
        for e in found["StudentSchoolAssociation"]
        if "exitWithdrawDate" in e and "exitWithdrawTypeDescriptor" not in e
    ],
    lambda found: [e for e in found["StudentSchoolAttendanceEvent"] if e["eventDate"] == "2025-09-01"],
    absences_before_entry,
    classes_without_teacher,
    lambda found: [e for e in demographics(found) if "races" not in e],
    same_person,
    lambda found: [who for who, several in enrollments(found).items() if not several],
    lambda found: [e for e in found["Student"] if e["birthDate"] < "2000"],
    lambda found: [e for e in found["Grade"] if e.get("numericGradeEarned", 0) > 100],
    lambda found: [
        e for e in found["StudentSpecialEducationProgramAssociation"] if e.get("iepEndDate", "9") < e["iepBeginDate"]
    ],
    without_contact,
    lambda found: [
        e
        for e in found["StudentSectionAssociation"]
        if e["sectionReference"]["sessionName"] == "Fall" and e["beginDate"] > END_OF_FALL
    ],
)
