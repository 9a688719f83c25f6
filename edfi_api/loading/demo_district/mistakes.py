"""Errors in the data of the district, for people who look for them: each document is valid, but the story is not.

meadowlark/docs/start/demo-district.md lists them. Each concerns another student.
"""

from collections.abc import Callable
from typing import NamedTuple

from edfi_api.loading.demo_district.calendar import FIRST_DAY, LAST_DAY, SEMESTERS
from edfi_api.model.examples import Body

# By the resource's name in the table of parts.
Found = dict[str, list[Body]]

_END_OF_FALL = SEMESTERS[0].end.isoformat()
# Where a standard has them; newer ones have a resource for them.
_DEMOGRAPHICS = ("StudentEducationOrganizationAssociation", "StudentDemographic")
_TRANSFERRED = "uri://ed-fi.org/ExitWithdrawTypeDescriptor#Transferred"


class Mistake(NamedTuple):
    """What is wrong, and what makes it so: a function of all bodies and of the enrollment of a regular student."""

    description: str
    make: Callable[[Found, Body], None]


def make_mistakes(found: Found) -> None:
    """Change the bodies. Raises ValueError if there are too few regular students."""
    regular = [
        enrollment
        for enrollment in found["StudentSchoolAssociation"]
        if enrollment["entryDate"] == FIRST_DAY.isoformat() and "exitWithdrawDate" not in enrollment
    ]
    step = len(regular) // len(MISTAKES)
    if not step:
        raise ValueError("too few students for the mistakes")
    for mistake, enrollment in zip(MISTAKES, regular[::step], strict=False):
        mistake.make(found, enrollment)


def _of_student(found: Found, resource: str, enrollment: Body) -> list[Body]:
    student = enrollment["studentReference"]
    return [body for body in found.get(resource, ()) if body["studentReference"] == student]


def _student(found: Found, enrollment: Body) -> Body:
    unique_id = enrollment["studentReference"]["studentUniqueId"]
    return next(body for body in found["Student"] if body["studentUniqueId"] == unique_id)


def _classes(found: Found, enrollment: Body) -> list[Body]:
    """Those of the fall."""
    classes = _of_student(found, "StudentSectionAssociation", enrollment)
    return [each for each in classes if each["beginDate"] == FIRST_DAY.isoformat()]


def _add_absence(found: Found, enrollment: Body, day: str) -> None:
    """In the fall, when all schools have absences that can be copied."""
    copied = next(
        event
        for event in found["StudentSchoolAttendanceEvent"]
        if event["schoolReference"] == enrollment["schoolReference"] and event["eventDate"] < _END_OF_FALL
    )
    added = {**copied, "studentReference": enrollment["studentReference"], "eventDate": day}
    found["StudentSchoolAttendanceEvent"].append(added)


def _two_schools(found: Found, enrollment: Body) -> None:
    others = (school["schoolId"] for school in found["School"])
    other = next(each for each in others if each != enrollment["schoolReference"]["schoolId"])
    found["StudentSchoolAssociation"].append({**enrollment, "schoolReference": {"schoolId": other}})


def _exit_before_entry(found: Found, enrollment: Body) -> None:
    enrollment |= {"exitWithdrawDate": "2025-08-01", "exitWithdrawTypeDescriptor": _TRANSFERRED}


def _exit_without_type(found: Found, enrollment: Body) -> None:
    enrollment["exitWithdrawDate"] = LAST_DAY.isoformat()


def _absent_on_a_holiday(found: Found, enrollment: Body) -> None:
    _add_absence(found, enrollment, "2025-11-27")


def _absent_before_entry(found: Found, enrollment: Body) -> None:
    enrollment["entryDate"] = "2025-10-01"
    _add_absence(found, enrollment, "2025-09-15")


def _class_without_teacher(found: Found, enrollment: Body) -> None:
    section = _classes(found, enrollment)[0]["sectionReference"]
    teachers = found["StaffSectionAssociation"]
    teachers[:] = [each for each in teachers if each["sectionReference"] != section]


def _no_demographics(found: Found, enrollment: Body) -> None:
    for resource in _DEMOGRAPHICS:
        for body in _of_student(found, resource, enrollment):
            for member in ("races", "hispanicLatinoEthnicity"):
                body.pop(member, None)


def _registered_twice(found: Found, enrollment: Body) -> None:
    again = {"studentUniqueId": "79000001"}
    found["Student"].append({**_student(found, enrollment), **again})
    for resource in _DEMOGRAPHICS:
        demographics = _of_student(found, resource, enrollment)
        found.setdefault(resource, []).extend({**body, "studentReference": again} for body in demographics)
    found["StudentSchoolAssociation"].append({**enrollment, "studentReference": again})


def _never_enrolled(found: Found, enrollment: Body) -> None:
    names = {"firstName": "Wren", "lastSurname": "Nowhere", "studentUniqueId": "79000002"}
    found["Student"].append({**_student(found, enrollment), **names})


def _born_long_ago(found: Found, enrollment: Body) -> None:
    _student(found, enrollment)["birthDate"] = "1951-03-04"


def _impossible_mark(found: Found, enrollment: Body) -> None:
    student = enrollment["studentReference"]["studentUniqueId"]
    grades = found["Grade"]
    of_student = (each for each in grades if each["studentSectionAssociationReference"]["studentUniqueId"] == student)
    next(of_student)["numericGradeEarned"] = 870


def _plan_ends_before_it_begins(found: Found, enrollment: Body) -> None:
    """Of the first student who has a plan."""
    plan = found["StudentSpecialEducationProgramAssociation"][0]
    plan["iepEndDate"] = "2025-01-10"


def _no_contact(found: Found, enrollment: Body) -> None:
    student, families = enrollment["studentReference"], found["StudentContactAssociation"]
    families[:] = [each for each in families if each["studentReference"] != student]


def _class_after_its_session(found: Found, enrollment: Body) -> None:
    """A class of the fall that begins in the spring; its mark refers to it."""
    wrong = _classes(found, enrollment)[0]
    key = {**wrong["sectionReference"], **wrong["studentReference"], "beginDate": wrong["beginDate"]}
    for grade in found["Grade"]:
        if grade["studentSectionAssociationReference"] == key:
            grade["studentSectionAssociationReference"]["beginDate"] = "2026-02-02"
    wrong["beginDate"] = "2026-02-02"
    wrong["endDate"] = LAST_DAY.isoformat()


MISTAKES = (
    Mistake("A student is enrolled at two schools at the same time.", _two_schools),
    Mistake("A student leaves school before entering it.", _exit_before_entry),
    Mistake("A student has left, and no type of exit says why.", _exit_without_type),
    Mistake("A student is absent on Thanksgiving.", _absent_on_a_holiday),
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
