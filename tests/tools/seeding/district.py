"""Bodies of the documents of a school district in one year, used for measuring queries.

A district consists of shared documents (descriptors, school year, agencies and all schools) and then, for each school,
sessions, courses, sections, and for each student enrollment, classes, family and attendance. Targets come before
their referrers. Schools differ only in their number, which is part of the keys of all their documents.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

STUDENTS_OF_A_SCHOOL = 200
SECTIONS_OF_A_SCHOOL = 20
SECTIONS_OF_A_STUDENT = 5
ABSENCES_OF_A_STUDENT = 13
SCHOOLS_OF_AN_AGENCY = 25
YEAR = 2026
# One absence in three hundred has a reason: many in a large district, but rare on each page.
ABSENCES_TO_A_REASON = 300
REASON = "Field trip"

Body = dict[str, Any]
Document = tuple[str, Body]


def school_id(school: int) -> int:
    """Ids of fixed length that occur nowhere else."""
    return 770_000_000 + school


def agency_id(agency: int) -> int:
    """Likewise: agencies and schools share one range of ids."""
    return 780_000_000 + agency


def student_unique_id(school: int, student: int) -> str:
    return f"{school_id(school)}{student:04}"


def frame(schools: int) -> Iterator[Document]:
    """The documents shared by the schools, and the schools, numbered from 1."""
    yield from _descriptors()
    yield "SchoolYearType", {"schoolYear": YEAR, "currentSchoolYear": True, "schoolYearDescription": "2025-2026"}
    category = _uri("EducationOrganizationCategoryDescriptor", "Local Education Agency")
    for agency in range(1, -(-schools // SCHOOLS_OF_AN_AGENCY) + 1):
        yield (
            "LocalEducationAgency",
            {
                "localEducationAgencyId": agency_id(agency),
                "nameOfInstitution": f"Agency {agency}",
                "localEducationAgencyCategoryDescriptor": _uri("LocalEducationAgencyCategoryDescriptor", "Regular"),
                "categories": [{"educationOrganizationCategoryDescriptor": category}],
            },
        )
    for school in range(1, schools + 1):
        yield "School", _school(school)


def school(school: int) -> list[Document]:
    """All documents of one school except the school itself, grouped by resource, as in a load."""
    documents = list(_school_year(school))
    resources = list(dict.fromkeys(name for name, _ in documents))
    return sorted(documents, key=lambda document: resources.index(document[0]))


def _school_year(school: int) -> Iterator[Document]:
    session = {"schoolId": school_id(school), "schoolYear": YEAR, "sessionName": "Fall"}
    yield (
        "Session",
        {
            "schoolReference": {"schoolId": school_id(school)},
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


def _uri(descriptor: str, value: str) -> str:
    return f"uri://ed-fi.org/{descriptor}#{value}"


def _descriptors() -> Iterator[Document]:
    values = {
        "AddressTypeDescriptor": ["Home", "Mailing"],
        "AttendanceEventCategoryDescriptor": ["Excused Absence", "Tardy", "Unexcused Absence"],
        "CourseIdentificationSystemDescriptor": ["LEA course code"],
        "EducationOrganizationCategoryDescriptor": ["Local Education Agency", "School"],
        "GradeLevelDescriptor": ["Ninth grade", "Tenth grade", "Eleventh grade", "Twelfth grade"],
        "LocalEducationAgencyCategoryDescriptor": ["Regular"],
        "RelationDescriptor": ["Mother"],
        "SexDescriptor": ["Female", "Male"],
        "StateAbbreviationDescriptor": ["TX"],
        "TermDescriptor": ["Fall Semester"],
    }
    for name, codes in values.items():
        for code in codes:
            yield name, {"namespace": f"uri://ed-fi.org/{name}", "codeValue": code, "shortDescription": code}


def _school(school: int) -> Body:
    category = _uri("EducationOrganizationCategoryDescriptor", "School")
    grades = ("Ninth grade", "Tenth grade", "Eleventh grade", "Twelfth grade")
    return {
        "schoolId": school_id(school),
        "nameOfInstitution": f"School {school}",
        "localEducationAgencyReference": {
            "localEducationAgencyId": agency_id(1 + (school - 1) // SCHOOLS_OF_AN_AGENCY)
        },
        "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": category}],
        "gradeLevels": [{"gradeLevelDescriptor": _uri("GradeLevelDescriptor", grade)} for grade in grades],
    }


def _section(school: int, session: Body, number: int) -> Iterator[Document]:
    code = f"C{number}"
    system = _uri("CourseIdentificationSystemDescriptor", "LEA course code")
    yield (
        "Course",
        {
            "courseCode": code,
            "courseTitle": f"Course {number}",
            "educationOrganizationReference": {"educationOrganizationId": school_id(school)},
            "numberOfParts": 1,
            "identificationCodes": [{"courseIdentificationSystemDescriptor": system, "identificationCode": code}],
        },
    )
    yield (
        "CourseOffering",
        {
            "localCourseCode": code,
            "schoolReference": {"schoolId": school_id(school)},
            "sessionReference": session,
            "courseReference": {"courseCode": code, "educationOrganizationId": school_id(school)},
        },
    )
    yield (
        "Section",
        {"sectionIdentifier": f"S{number}", "courseOfferingReference": {"localCourseCode": code, **session}},
    )


def _student(school: int, session: Body, number: int) -> Iterator[Document]:
    unique_id = student_unique_id(school, number)
    student = {"studentUniqueId": unique_id}
    grade = ("Ninth grade", "Tenth grade", "Eleventh grade", "Twelfth grade")[number % 4]
    yield (
        "Student",
        student
        | {
            "firstName": f"First{number}",
            "lastSurname": f"Last{number % 100}",
            "birthDate": (date(2008, 1, 1) + timedelta(days=number % 1500)).isoformat(),
            "birthSexDescriptor": _uri("SexDescriptor", "Female" if number % 2 else "Male"),
        },
    )
    yield (
        "StudentSchoolAssociation",
        {
            "studentReference": student,
            "schoolReference": {"schoolId": school_id(school)},
            "entryDate": "2025-08-20",
            "entryGradeLevelDescriptor": _uri("GradeLevelDescriptor", grade),
        },
    )
    yield (
        "StudentEducationOrganizationAssociation",
        {
            "studentReference": student,
            "educationOrganizationReference": {"educationOrganizationId": school_id(school)},
            "addresses": [_address(school, number, kind) for kind in ("Home", "Mailing")],
        },
    )
    yield (
        "Contact",
        {"contactUniqueId": unique_id, "firstName": f"Parent{number}", "lastSurname": f"Last{number % 100}"},
    )
    yield (
        "StudentContactAssociation",
        {
            "studentReference": student,
            "contactReference": {"contactUniqueId": unique_id},
            "relationDescriptor": _uri("RelationDescriptor", "Mother"),
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
        yield "StudentSchoolAttendanceEvent", _absence(student, session, day, number * ABSENCES_OF_A_STUDENT + day)


def _address(school: int, number: int, kind: str) -> Body:
    return {
        "addressTypeDescriptor": _uri("AddressTypeDescriptor", kind),
        "streetNumberName": f"{number} Meadow Road",
        "city": "Lark",
        "stateAbbreviationDescriptor": _uri("StateAbbreviationDescriptor", "TX"),
        "postalCode": f"{75000 + number}",
    }


def _absence(student: Body, session: Body, day: int, number: int) -> Body:
    category = ("Excused Absence", "Tardy", "Unexcused Absence")[day % 3]
    absence: Body = {
        "studentReference": student,
        "schoolReference": {"schoolId": session["schoolId"]},
        "sessionReference": session,
        "eventDate": (date(2025, 8, 20) + timedelta(days=7 * day)).isoformat(),
        "attendanceEventCategoryDescriptor": _uri("AttendanceEventCategoryDescriptor", category),
    }
    return absence | ({"attendanceEventReason": REASON} if number % ABSENCES_TO_A_REASON == 0 else {})
