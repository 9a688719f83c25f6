"""Fills a database with millions of documents of mixed resources, by COPY, for measuring queries.

`python -m tests.benchmarks.seed --size 1000000` with `DATABASE_URL` at an empty, migrated database and a role that may
switch off triggers. A district is made school by school: sessions, courses, sections, and for each student what a year
leaves behind, mostly attendance. Identities, aliases and references are those that the API would store, worked out by
the same code; `manage.py verify_integrity` agrees.
"""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from itertools import islice
from typing import Any

import django
from django.db import connection
from tqdm import tqdm
from uuid_utils.compat import uuid7

from edfi_api.documents.securables import Securables

STUDENTS_OF_A_SCHOOL = 2000
SECTIONS_OF_A_SCHOOL = 40
SECTIONS_OF_A_STUDENT = 6
ABSENCES_OF_A_STUDENT = 15
YEAR = 2026
_BATCH = 10_000

Body = dict[str, Any]


def district() -> Iterator[tuple[str, Body]]:
    """Resource names and bodies without end, targets before referrers."""
    yield from _descriptors()
    yield "SchoolYearType", {"schoolYear": YEAR, "currentSchoolYear": True, "schoolYearDescription": "2025-2026"}
    school = 1
    while True:
        yield from _school(school)
        school += 1


def _uri(descriptor: str, value: str) -> str:
    return f"uri://ed-fi.org/{descriptor}#{value}"


def _descriptors() -> Iterator[tuple[str, Body]]:
    values = {
        "AttendanceEventCategoryDescriptor": ["Excused Absence", "Tardy", "Unexcused Absence"],
        "EducationOrganizationCategoryDescriptor": ["School"],
        "GradeLevelDescriptor": ["Ninth grade", "Tenth grade", "Eleventh grade", "Twelfth grade"],
        "SexDescriptor": ["Female", "Male"],
        "TermDescriptor": ["Fall Semester"],
        "CourseIdentificationSystemDescriptor": ["LEA course code"],
    }
    for name, codes in values.items():
        for code in codes:
            yield name, {"namespace": f"uri://ed-fi.org/{name}", "codeValue": code, "shortDescription": code}


def _school(school: int) -> Iterator[tuple[str, Body]]:
    category = _uri("EducationOrganizationCategoryDescriptor", "School")
    grade = _uri("GradeLevelDescriptor", "Ninth grade")
    yield (
        "School",
        {
            "schoolId": school,
            "nameOfInstitution": f"School {school}",
            "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": category}],
            "gradeLevels": [{"gradeLevelDescriptor": grade}],
        },
    )
    session = {"schoolId": school, "schoolYear": YEAR, "sessionName": "Fall"}
    yield (
        "Session",
        {
            "schoolReference": {"schoolId": school},
            "schoolYearTypeReference": {"schoolYear": YEAR},
            "sessionName": "Fall",
            "beginDate": "2025-08-20",
            "endDate": "2025-12-20",
            "totalInstructionalDays": 80,
            "termDescriptor": _uri("TermDescriptor", "Fall Semester"),
        },
    )
    for number in range(SECTIONS_OF_A_SCHOOL):
        yield from _section(school, session, number)
    for number in range(STUDENTS_OF_A_SCHOOL):
        yield from _student(school, session, number)


def _section(school: int, session: Body, number: int) -> Iterator[tuple[str, Body]]:
    code = f"C{number}"
    system = _uri("CourseIdentificationSystemDescriptor", "LEA course code")
    yield (
        "Course",
        {
            "courseCode": code,
            "courseTitle": f"Course {number}",
            "educationOrganizationReference": {"educationOrganizationId": school},
            "numberOfParts": 1,
            "identificationCodes": [{"courseIdentificationSystemDescriptor": system, "identificationCode": code}],
        },
    )
    yield (
        "CourseOffering",
        {
            "localCourseCode": code,
            "schoolReference": {"schoolId": school},
            "sessionReference": session,
            "courseReference": {"courseCode": code, "educationOrganizationId": school},
        },
    )
    yield (
        "Section",
        {"sectionIdentifier": f"S{number}", "courseOfferingReference": {"localCourseCode": code, **session}},
    )


def _student(school: int, session: Body, number: int) -> Iterator[tuple[str, Body]]:
    unique_id = str(school * 10_000 + number)
    student = {"studentUniqueId": unique_id}
    yield (
        "Student",
        student
        | {
            "firstName": f"First{number % 500}",
            "lastSurname": f"Last{number % 1000}",
            "birthDate": (date(2008, 1, 1) + timedelta(days=number % 1500)).isoformat(),
            "birthSexDescriptor": _uri("SexDescriptor", "Female" if number % 2 else "Male"),
        },
    )
    yield (
        "StudentSchoolAssociation",
        {
            "studentReference": student,
            "schoolReference": {"schoolId": school},
            "entryDate": "2025-08-20",
            "entryGradeLevelDescriptor": _uri("GradeLevelDescriptor", "Ninth grade"),
        },
    )
    for place in range(SECTIONS_OF_A_STUDENT):
        section = (number + place) % SECTIONS_OF_A_SCHOOL
        reference = {"sectionIdentifier": f"S{section}", "localCourseCode": f"C{section}", **session}
        yield (
            "StudentSectionAssociation",
            {"studentReference": student, "sectionReference": reference, "beginDate": "2025-08-20"},
        )
    for day in range(ABSENCES_OF_A_STUDENT):
        category = ("Excused Absence", "Tardy", "Unexcused Absence")[day % 3]
        yield (
            "StudentSchoolAttendanceEvent",
            {
                "studentReference": student,
                "schoolReference": {"schoolId": school},
                "sessionReference": session,
                "eventDate": (date(2025, 8, 20) + timedelta(days=7 * day)).isoformat(),
                "attendanceEventCategoryDescriptor": _uri("AttendanceEventCategoryDescriptor", category),
            },
        )


@contextmanager
def _without_indexes() -> Iterator[None]:
    """Secondary indexes are dropped and built again at the end, which is much faster than row by row."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
            " AND tablename IN ('document', 'alias', 'reference') AND indexdef NOT LIKE 'CREATE UNIQUE%'"
        )
        indexes = dict(cursor.fetchall())
        for name in indexes:
            cursor.execute(f'DROP INDEX "{name}"')
        cursor.execute("SET session_replication_role = replica; SET synchronous_commit = off")
        cursor.execute("SET maintenance_work_mem = '1GB'")
    yield
    with connection.cursor() as cursor:
        for definition in tqdm(indexes.values(), desc="indexes", unit="index"):
            cursor.execute(definition)
        cursor.execute("VACUUM ANALYZE document, alias, reference")
        cursor.execute("SET session_replication_role = DEFAULT")


def seed(size: int) -> None:
    """Write `size` documents into an empty database."""
    from edfi_api.documents import resource_types  # noqa: PLC0415  Django is set up by now
    from edfi_api.documents.incoming import Preparers  # noqa: PLC0415
    from edfi_api.startup import current_surface  # noqa: PLC0415
    from edfi_api.surface.resource import ResourceName  # noqa: PLC0415

    preparers, numbers = Preparers(current_surface()), resource_types.numbers()
    documents = enumerate(islice(district(), size), start=1)
    progress = tqdm(total=size, unit=" documents", unit_scale=True)
    with _without_indexes():
        while batch := list(islice(documents, _BATCH)):
            rows = []
            for row, (resource, body) in batch:
                name = ResourceName("Ed-Fi", resource)
                rows.append((row, numbers[name], preparers[name].understand(body)))
            _copy(rows)
            progress.update(len(batch))
        with connection.cursor() as cursor:
            cursor.execute("SELECT setval(pg_get_serial_sequence('document', 'id'), %s)", [size])
    progress.close()


def _copy(rows: list[tuple[int, int, Any]]) -> None:
    connection.ensure_connection()
    cursor = connection.connection.cursor()
    columns = f"id, document_uuid, resource_type_id, natural_key, body, {', '.join(Securables._fields)}"
    with cursor.copy(f"COPY document ({columns}) FROM STDIN") as copy:
        for row, number, incoming in rows:
            body = incoming.text.decode()
            copy.write_row((row, uuid7(), number, incoming.identity.natural_key, body, *incoming.securables))
    with cursor.copy("COPY alias (referential_id, document_id) FROM STDIN") as copy:
        for row, _, incoming in rows:
            for alias in incoming.identity.aliases:
                copy.write_row((alias, row))
    with cursor.copy("COPY reference (document_id, resource_type_id, alias_id) FROM STDIN") as copy:
        for row, number, incoming in rows:
            for target in incoming.targets:
                copy.write_row((row, number, target))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=int, default=1_000_000, help="how many documents")
    size = parser.parse_args().size
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    django.setup()
    seed(size)


if __name__ == "__main__":
    main()
