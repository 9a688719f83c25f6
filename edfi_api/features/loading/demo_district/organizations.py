"""The organizations of the district alone, below a state agency, as a vendor finds them in a sandbox; with some
students, if the vendor does not write them. Ids are those of the district."""

from collections.abc import Iterator
from datetime import date
from itertools import count
from random import Random

from edfi_api.features.loading.demo_district import people, schools
from edfi_api.features.loading.demo_district.calendar import SchoolYear
from edfi_api.features.loading.demo_district.generation import generated_parts
from edfi_api.features.loading.demo_district.place import DISTRICT, Draft, DraftRow, PlacedDraft
from edfi_api.model.examples import Bodies, Body
from edfi_api.model.surface.resource import ResourceName

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
        sex = people.sex(random)
        yield Draft(
            {
                "studentUniqueId": f"77{school.sparse['schoolId'] % 10}{number:05}",
                "firstName": people.first_name(random, sex),
                "lastSurname": people.last_name(random),
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
