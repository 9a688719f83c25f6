"""The table of parts → bodies, completed by the model of the served standard."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import count
from random import Random

from edfi_api.features.loading.demo_district import place, schools, students
from edfi_api.features.loading.demo_district.calendar import SchoolYear
from edfi_api.features.loading.demo_district.mistakes import Found, make_mistakes
from edfi_api.features.loading.demo_district.place import DISTRICT, Draft, DraftRow, PlacedDraft
from edfi_api.model.examples import SCHOOL_YEAR, Bodies, Body, Examples
from edfi_api.model.surface.resource import Resource, ResourceKind, ResourceName, Surface

# The drafts of the district. Each row stands below the one that it belongs to, and below those that it refers to.
#
# The tables of this module, the drafts that they name, and the mistakes are the only code with names of resources.
# They are names of the bundled data standards: members that a standard lacks are left out of a draft, its model adds
# what it requires, and a code value that a standard lacks is replaced by another one of the same descriptor.
PARTS = (
    DraftRow("LocalEducationAgency", DISTRICT, schools.agency),
    DraftRow("Program", "LocalEducationAgency", schools.program),
    DraftRow("School", "LocalEducationAgency", schools.schools),
    DraftRow("Calendar", "School", schools.calendar),
    DraftRow("CalendarDate", "Calendar", schools.calendar_dates),
    DraftRow("GradingPeriod", "School", schools.grading_periods),
    DraftRow("Session", "School", schools.sessions),
    DraftRow("Course", "School", schools.courses),
    DraftRow("CourseOffering", "Course", schools.offerings),
    DraftRow("Section", "CourseOffering", schools.sections),
    DraftRow("Staff", "School", schools.staff),
    DraftRow("StaffEducationOrganizationEmploymentAssociation", "Staff", schools.employment),
    DraftRow("StaffEducationOrganizationAssignmentAssociation", "Staff", schools.assignment),
    DraftRow("StaffSchoolAssociation", "Staff", schools.school_of_staff),
    DraftRow("StaffSectionAssociation", "Section", schools.teacher),
    DraftRow("Student", "School", students.students),
    DraftRow("StudentSchoolAssociation", "Student", students.enrollment),
    DraftRow("StudentEducationOrganizationAssociation", "Student", students.demographics_and_address),
    DraftRow("StudentDemographic", "Student", students.demographics, is_of_newer_standards=True),
    DraftRow("StudentDirectory", "Student", students.address, is_of_newer_standards=True),
    DraftRow("Contact", "Student", students.contacts, older_name="Parent"),
    DraftRow("StudentContactAssociation", "Contact", students.family, older_name="StudentParentAssociation"),
    DraftRow("StudentSectionAssociation", "Section", students.classes),
    DraftRow("Grade", "StudentSectionAssociation", students.marks),
    DraftRow("StudentSchoolAttendanceEvent", "Student", students.attendance),
    DraftRow("StudentSpecialEducationProgramAssociation", "Student", students.special_education),
    DraftRow("DisciplineIncident", "School", students.incidents),
    DraftRow("StudentDisciplineIncidentBehaviorAssociation", "DisciplineIncident", students.behavior),
)


@dataclass(frozen=True)
class District:
    """The bodies of each resource, in load order. `left_out` are resources that the standard lacks."""

    bodies: dict[ResourceName, list[Body]]
    left_out: list[str]


def generate(bodies: Bodies, students: int, seed: int, today: date) -> District:
    """A district of about so many students, with its mistakes, and the examples of the documentation that others refer
    to. It is in the school year of this day (`SchoolYear.of`), as it is by then."""
    year = SchoolYear.of(today)
    found, left_out = _generated(bodies, students, seed, year)
    if not left_out:
        make_mistakes(found, year)
    in_order = {resource.name: found.get(_table_name(resource), []) for resource in bodies.surface.resources}
    for resource, body in Examples(bodies).targets():
        in_order[resource.name].append(body)
    for resource in _school_years(bodies.surface):
        in_order[resource.name] = [_school_year(each, each == year.year) for each in sorted({SCHOOL_YEAR, year.year})]
    return District({name: several for name, several in in_order.items() if several}, left_out)


def _generated(bodies: Bodies, students: int, seed: int, year: SchoolYear) -> tuple[Found, list[str]]:
    # Random values are not for secrets: a seed has to give the same district.
    scope = {
        origin: value
        for resource in _school_years(bodies.surface)
        for origin, value in bodies.key(resource, _school_year(year.year, True)).items()
    }
    root = PlacedDraft(DISTRICT, 1, Draft({"students": students}), scope, Random(seed), year)  # noqa: S311
    return generated_parts(bodies, PARTS, root)


def generated_parts(bodies: Bodies, parts: Iterable[DraftRow], root: PlacedDraft) -> tuple[Found, list[str]]:
    """The bodies of each row of a table, by the name of its resource, and the resources that the standard lacks."""
    places, found, left_out = {DISTRICT: [root]}, Found(), list[str]()
    for part in parts:
        resource = _resource(bodies.surface, part)
        if resource is None or part.per not in places:
            left_out += [] if part.is_of_newer_standards else [part.resource]
            continue
        documents = list(_documents(bodies, part, resource, places[part.per]))
        places[part.resource] = [place for place, _ in documents]
        found[part.resource] = [body for _, body in documents]
    return found, left_out


def _documents(
    bodies: Bodies, part: DraftRow, resource: Resource, parents: list[PlacedDraft]
) -> Iterator[tuple[PlacedDraft, Body]]:
    numbers = count(1)
    for parent in parents:
        for draft in part.drafts(parent):
            scope = {**parent.scope, **(draft.other.scope if draft.other else {})}
            body = bodies.complete(resource, draft.sparse, scope)
            yield parent.add(part.resource, next(numbers), draft, {**scope, **bodies.key(resource, body)}), body


def _resource(surface: Surface, part: DraftRow) -> Resource | None:
    names = (ResourceName(surface.core_project.name, name) for name in (part.resource, part.older_name))
    return next((surface.by_name[name] for name in names if name in surface.by_name), None)


def _school_years(surface: Surface) -> list[Resource]:
    """The resource of school years, if the standard has one."""
    return [resource for resource in surface.resources if resource.kind is ResourceKind.SCHOOL_YEAR]


def _school_year(year: int, is_current: bool) -> Body:
    return {"schoolYear": year, "currentSchoolYear": is_current, "schoolYearDescription": f"{year - 1}-{year}"}


def _table_name(resource: Resource) -> str:
    """The name of the resource in the table."""
    name = resource.name.resource
    return next((part.resource for part in PARTS if part.older_name == name), name)


STATE_ID, DISTRICT_ID = 77, schools.AGENCY
_STUDENTS_OF_A_SCHOOL = 10
_SEED = 1
# Positions of an elementary, a middle and a high school.
_SCHOOLS = (0, 2, 3)


def _state(root: PlacedDraft) -> Iterator[Draft]:
    yield Draft({"stateEducationAgencyId": STATE_ID, "nameOfInstitution": "Meadow State Department of Education"})


def _district(state: PlacedDraft) -> Iterator[Draft]:
    for draft in schools.agency(state):
        yield Draft({**draft.sparse, "stateEducationAgencyReference": {}})


def _schools(district: PlacedDraft) -> Iterator[Draft]:
    found = list(schools.schools(district))
    yield from (found[position] for position in _SCHOOLS)


def _students(school: PlacedDraft) -> Iterator[Draft]:
    random, numbers = school.random, count(1)
    for number in (next(numbers) for _ in range(_STUDENTS_OF_A_SCHOOL)):
        sex = place.sex(random)
        yield Draft(
            {
                "studentUniqueId": f"77{school.sparse['schoolId'] % 10}{number:05}",
                "firstName": place.first_name(random, sex),
                "lastSurname": place.last_name(random),
                "birthDate": date(school.year.year - 10, random.randint(1, 12), 3).isoformat(),
                "birthSexDescriptor": sex,
            }
        )


def _enrollment(student: PlacedDraft) -> Iterator[Draft]:
    grade = student.above("School").sparse["gradeLevels"][0]["gradeLevelDescriptor"]
    yield Draft({"entryDate": student.year.first_day.isoformat(), "entryGradeLevelDescriptor": grade})


_ORGANIZATIONS = (
    DraftRow("StateEducationAgency", DISTRICT, _state),
    DraftRow("LocalEducationAgency", "StateEducationAgency", _district),
    DraftRow("School", "LocalEducationAgency", _schools),
)
_STUDENTS = (
    DraftRow("Student", "School", _students),
    DraftRow("StudentSchoolAssociation", "Student", _enrollment),
)


def organizations(bodies: Bodies, today: date, *, has_students: bool) -> dict[ResourceName, list[Body]]:
    """The bodies of each resource, in load order."""
    rows = (*_ORGANIZATIONS, *(_STUDENTS if has_students else ()))
    root = PlacedDraft(DISTRICT, 1, Draft({}), {}, Random(_SEED), SchoolYear.of(today))  # noqa: S311
    found, _ = generated_parts(bodies, rows, root)
    core = bodies.surface.core_project.name
    return {ResourceName(core, name): several for name, several in found.items()}
