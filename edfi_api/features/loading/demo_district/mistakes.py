"""Errors in the data of the district, for people who look for them: each document is valid, but the story is not.

meadowlark/docs/start/demo-district.md lists them. Each concerns another student.
"""

from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from edfi_api.features.loading.demo_district.calendar import SchoolYear, Semester
from edfi_api.model.examples import Body

# Bodies by the resource's name in the table of parts.
Found = dict[str, list[Body]]

# Members with the demographics, where a standard has them; newer ones have a resource for them.
_DEMOGRAPHICS = ("StudentEducationOrganizationAssociation", "StudentDemographic")
_TRANSFERRED = "uri://ed-fi.org/ExitWithdrawTypeDescriptor#Transferred"


class Mistake(NamedTuple):
    """A mistake, and what makes it: a function of all bodies, of the enrollment of a regular student, and of
    the school year."""

    description: str
    make: Callable[[Found, Body, SchoolYear], None]


def make_mistakes(found: Found, year: SchoolYear) -> None:
    """Change the bodies. Raises ValueError if there are too few regular students."""
    regular = [
        enrollment
        for enrollment in found["StudentSchoolAssociation"]
        if enrollment["entryDate"] == year.first_day.isoformat() and "exitWithdrawDate" not in enrollment
    ]
    step = len(regular) // len(MISTAKES)
    if not step:
        raise ValueError("too few students for the mistakes")
    for mistake, enrollment in zip(MISTAKES, regular[::step], strict=False):
        mistake.make(found, enrollment, year)


def _of_student(found: Found, resource: str, enrollment: Body) -> list[Body]:
    student = enrollment["studentReference"]
    return [body for body in found.get(resource, ()) if body["studentReference"] == student]


def _student(found: Found, enrollment: Body) -> Body:
    unique_id = enrollment["studentReference"]["studentUniqueId"]
    return next(body for body in found["Student"] if body["studentUniqueId"] == unique_id)


def _classes(found: Found, enrollment: Body, semester: Semester) -> list[Body]:
    classes = _of_student(found, "StudentSectionAssociation", enrollment)
    return [each for each in classes if each["beginDate"] == semester.begin.isoformat()]


def _add_absence(found: Found, enrollment: Body, day: date, year: SchoolYear) -> None:
    """Add an absence in the fall, when all schools have absences that can be copied."""
    end_of_fall = year.semesters[0].end.isoformat()
    copied = next(
        event
        for event in found["StudentSchoolAttendanceEvent"]
        if event["schoolReference"] == enrollment["schoolReference"] and event["eventDate"] < end_of_fall
    )
    added = {**copied, "studentReference": enrollment["studentReference"], "eventDate": day.isoformat()}
    found["StudentSchoolAttendanceEvent"].append(added)


def _two_schools(found: Found, enrollment: Body, year: SchoolYear) -> None:
    others = (school["schoolId"] for school in found["School"])
    other = next(each for each in others if each != enrollment["schoolReference"]["schoolId"])
    found["StudentSchoolAssociation"].append({**enrollment, "schoolReference": {"schoolId": other}})


def _exit_before_entry(found: Found, enrollment: Body, year: SchoolYear) -> None:
    before = year.first_day - timedelta(days=17)
    enrollment |= {"exitWithdrawDate": before.isoformat(), "exitWithdrawTypeDescriptor": _TRANSFERRED}


def _exit_without_type(found: Found, enrollment: Body, year: SchoolYear) -> None:
    enrollment["exitWithdrawDate"] = year.last_day.isoformat()


def _absent_on_a_holiday(found: Found, enrollment: Body, year: SchoolYear) -> None:
    _add_absence(found, enrollment, year.labor_day, year)


def _absent_before_entry(found: Found, enrollment: Body, year: SchoolYear) -> None:
    entry = year.first_day + timedelta(days=44)
    enrollment["entryDate"] = entry.isoformat()
    _add_absence(found, enrollment, entry - timedelta(days=16), year)


def _class_without_teacher(found: Found, enrollment: Body, year: SchoolYear) -> None:
    section = _classes(found, enrollment, year.semester)[0]["sectionReference"]
    teachers = found["StaffSectionAssociation"]
    teachers[:] = [each for each in teachers if each["sectionReference"] != section]


def _no_demographics(found: Found, enrollment: Body, year: SchoolYear) -> None:
    for resource in _DEMOGRAPHICS:
        for body in _of_student(found, resource, enrollment):
            for member in ("races", "hispanicLatinoEthnicity"):
                body.pop(member, None)


def _registered_twice(found: Found, enrollment: Body, year: SchoolYear) -> None:
    again = {"studentUniqueId": "79000001"}
    found["Student"].append({**_student(found, enrollment), **again})
    for resource in _DEMOGRAPHICS:
        demographics = _of_student(found, resource, enrollment)
        found.setdefault(resource, []).extend({**body, "studentReference": again} for body in demographics)
    found["StudentSchoolAssociation"].append({**enrollment, "studentReference": again})


def _never_enrolled(found: Found, enrollment: Body, year: SchoolYear) -> None:
    names = {"firstName": "Wren", "lastSurname": "Nowhere", "studentUniqueId": "79000002"}
    found["Student"].append({**_student(found, enrollment), **names})


def _born_long_ago(found: Found, enrollment: Body, year: SchoolYear) -> None:
    _student(found, enrollment)["birthDate"] = "1951-03-04"


def _impossible_mark(found: Found, enrollment: Body, year: SchoolYear) -> None:
    student = enrollment["studentReference"]["studentUniqueId"]
    grades = found["Grade"]
    of_student = (each for each in grades if each["studentSectionAssociationReference"]["studentUniqueId"] == student)
    next(of_student)["numericGradeEarned"] = 870


def _plan_ends_before_it_begins(found: Found, enrollment: Body, year: SchoolYear) -> None:
    """Let the plan of the first student who has one end before it begins."""
    plan = found["StudentSpecialEducationProgramAssociation"][0]
    plan["iepEndDate"] = (year.first_day - timedelta(days=220)).isoformat()


def _no_contact(found: Found, enrollment: Body, year: SchoolYear) -> None:
    student, families = enrollment["studentReference"], found["StudentContactAssociation"]
    families[:] = [each for each in families if each["studentReference"] != student]


def _class_after_its_session(found: Found, enrollment: Body, year: SchoolYear) -> None:
    """A class of the fall that begins in the spring; its mark refers to it."""
    fall, spring = year.semesters
    wrong = _classes(found, enrollment, fall)[0]
    begin = (spring.begin + timedelta(weeks=3)).isoformat()
    key = {**wrong["sectionReference"], **wrong["studentReference"], "beginDate": wrong["beginDate"]}
    for grade in found["Grade"]:
        if grade["studentSectionAssociationReference"] == key:
            grade["studentSectionAssociationReference"]["beginDate"] = begin
    wrong["beginDate"] = begin
    wrong["endDate"] = year.last_day.isoformat()


MISTAKES = (
    Mistake("A student is enrolled at two schools at the same time.", _two_schools),
    Mistake("A student leaves school before entering it.", _exit_before_entry),
    Mistake("A student leaves on the last day of school, and no type of exit says why.", _exit_without_type),
    Mistake("A student is absent on Labor Day.", _absent_on_a_holiday),
    Mistake("A student is absent from a school two weeks before entering it.", _absent_before_entry),
    Mistake("A class has students and no teacher.", _class_without_teacher),
    Mistake("An enrolled student has neither race nor ethnicity.", _no_demographics),
    Mistake("One person is two students: same names, same birth date, same school.", _registered_twice),
    Mistake("A student is enrolled nowhere.", _never_enrolled),
    Mistake("A student was born in 1951.", _born_long_ago),
    Mistake("A grade is 870 of 100 points.", _impossible_mark),
    Mistake("A plan for special education ends before it begins.", _plan_ends_before_it_begins),
    Mistake("A student has no contact.", _no_contact),
    Mistake("A student attends a class of the fall from February on.", _class_after_its_session),
)
