"""Answers to questions of the page for analysts, computed from the bodies of a district instead of by SQL."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

Body = dict[str, Any]
Rows = list[tuple[Any, ...]]
District = Mapping[str, list[Body]]

_ABSENT = ("Excused Absence", "Unexcused Absence")


def answers_of(district: District) -> dict[int, Rows]:
    """Return the answers by the number of the question."""
    return {
        1: _enrollment(district),
        6: _exits(district),
        7: _at_two_schools(district),
        8: _enrolled_nowhere(district),
        10: _registered_twice(district),
        12: _chronically_absent(district),
        14: _attendance_by_month(district),
        16: _calendar(district),
        17: _without_schedule(district),
        18: _without_staff(district),
        19: _sizes(district),
        22: _marks_by_course(district),
        23: _failing(district),
        24: _staff(district),
        27: _disabilities(district),
        29: _without_contact(district),
    }


def _code(uri: str) -> str:
    return uri.partition("#")[2]


def _who(body: Body) -> str:
    found: str = body["studentReference"]["studentUniqueId"]
    return found


def _enrolled(district: District) -> list[tuple[str, int, str]]:
    """Student, school and grade of each enrollment that is open."""
    return [
        (_who(each), each["schoolReference"]["schoolId"], _code(each["entryGradeLevelDescriptor"]))
        for each in district["StudentSchoolAssociation"]
        if "exitWithdrawDate" not in each
    ]


def _names(district: District) -> dict[str, tuple[str, str]]:
    return {each["studentUniqueId"]: (each["firstName"], each["lastSurname"]) for each in district["Student"]}


def _enrollment(district: District) -> Rows:
    schools = {each["schoolId"]: each["nameOfInstitution"] for each in district["School"]}
    counted = Counter((schools[school], grade) for _, school, grade in _enrolled(district))
    return [(*key, count) for key, count in counted.items()]


def _exits(district: District) -> Rows:
    left = [each for each in district["StudentSchoolAssociation"] if "exitWithdrawDate" in each]
    counted = Counter(
        (_month(each["exitWithdrawDate"]), _code(each.get("exitWithdrawTypeDescriptor", "")) or None) for each in left
    )
    return [(*key, count) for key, count in counted.items()]


def _month(day: str) -> date:
    return date.fromisoformat(day).replace(day=1)


def _at_two_schools(district: District) -> Rows:
    schools = defaultdict(list)
    for student, school, _ in _enrolled(district):
        schools[student].append(school)
    names = _names(district)
    return [(who, *names[who], sorted(several)) for who, several in schools.items() if len(several) > 1]


def _enrolled_nowhere(district: District) -> Rows:
    enrolled = {student for student, _, _ in _enrolled(district)}
    return [(who, *names) for who, names in _names(district).items() if who not in enrolled]


def _registered_twice(district: District) -> Rows:
    people = defaultdict(list)
    for each in district["Student"]:
        people[each["firstName"], each["lastSurname"], date.fromisoformat(each["birthDate"])].append(
            each["studentUniqueId"]
        )
    return [(*person, sorted(numbers)) for person, numbers in people.items() if len(numbers) > 1]


def _chronically_absent(district: District) -> Rows:
    held = Counter(
        school for school, _, kind, days in _calendar(district) for _ in range(days) if kind == "Instructional day"
    )
    absent = defaultdict(set)
    for each in district["StudentSchoolAttendanceEvent"]:
        if _code(each["attendanceEventCategoryDescriptor"]) in _ABSENT:
            absent[_who(each), each["schoolReference"]["schoolId"]].add(each["eventDate"])
    names = _names(district)
    found = []
    for (who, school), days in absent.items():
        if held[school] and len(days) >= 0.1 * held[school]:
            found.append((who, *names[who], school, len(days), round(Decimal(100 * len(days)) / held[school], 1)))
    return found


def _attendance_by_month(district: District) -> Rows:
    counted = Counter(
        (_month(each["eventDate"]), _code(each["attendanceEventCategoryDescriptor"]))
        for each in district["StudentSchoolAttendanceEvent"]
    )
    return [(*key, count) for key, count in counted.items()]


def _calendar(district: District) -> Rows:
    counted = Counter(
        (
            each["calendarReference"]["schoolId"],
            each["calendarReference"]["schoolYear"],
            _code(event["calendarEventDescriptor"]),
        )
        for each in district["CalendarDate"]
        for event in each["calendarEvents"]
    )
    return [(*key, count) for key, count in counted.items()]


def _section(body: Body) -> tuple[int, str, str, str]:
    reference = body["sectionReference"]
    return tuple(reference[name] for name in ("schoolId", "sessionName", "localCourseCode", "sectionIdentifier"))


def _without_schedule(district: District) -> Rows:
    scheduled = {(_who(each), each["sectionReference"]["schoolId"]) for each in district["StudentSectionAssociation"]}
    names = _names(district)
    return [(who, *names[who], school) for who, school, _ in _enrolled(district) if (who, school) not in scheduled]


def _without_staff(district: District) -> Rows:
    taught = {_section(each) for each in district["StaffSectionAssociation"]}
    counted = Counter(_section(each) for each in district["StudentSectionAssociation"])
    return [(*section, count) for section, count in counted.items() if section not in taught]


def _sizes(district: District) -> Rows:
    counted = Counter(_section(each) for each in district["StudentSectionAssociation"])
    sections = [
        _section(
            {"sectionReference": {**each["courseOfferingReference"], "sectionIdentifier": each["sectionIdentifier"]}}
        )
        for each in district["Section"]
    ]
    return [(*section, counted[section]) for section in sections]


def _marks_by_course(district: District) -> Rows:
    titles = {
        (each["educationOrganizationReference"]["educationOrganizationId"], each["courseCode"]): each["courseTitle"]
        for each in district["Course"]
    }
    courses = {
        (each["schoolReference"]["schoolId"], each["sessionReference"]["sessionName"], each["localCourseCode"]): titles[
            each["courseReference"]["educationOrganizationId"], each["courseReference"]["courseCode"]
        ]
        for each in district["CourseOffering"]
    }
    counted = Counter(
        (courses[where["schoolId"], where["sessionName"], where["localCourseCode"]], each.get("letterGradeEarned"))
        for each in district["Grade"]
        for where in [each["studentSectionAssociationReference"]]
    )
    return [(*key, count) for key, count in counted.items()]


def _failing(district: District) -> Rows:
    failed = Counter(
        (where["studentUniqueId"], where["schoolId"])
        for each in district["Grade"]
        for where in [each["studentSectionAssociationReference"]]
        if each.get("letterGradeEarned") == "F"
    )
    names = _names(district)
    return [(who, *names[who], school, count) for (who, school), count in failed.items() if count > 1]


def _staff(district: District) -> Rows:
    schools = {each["schoolId"]: each["nameOfInstitution"] for each in district["School"]}
    counted = Counter(
        (
            schools[each["educationOrganizationReference"]["educationOrganizationId"]],
            _code(each["staffClassificationDescriptor"]),
        )
        for each in district["StaffEducationOrganizationAssignmentAssociation"]
    )
    return [(*key, count) for key, count in counted.items()]


def _disabilities(district: District) -> Rows:
    counted = Counter(
        _code(disability["disabilityDescriptor"])
        for each in district["StudentSpecialEducationProgramAssociation"]
        for disability in each.get("disabilities", ())
    )
    return [(disability, count) for disability, count in counted.items()]


def _without_contact(district: District) -> Rows:
    families = {_who(each) for each in district["StudentContactAssociation"]}
    names = _names(district)
    return [(who, *names[who], school) for who, school, _ in _enrolled(district) if who not in families]
