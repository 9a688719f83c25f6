"""The kinds of queries that benchmarks measure and tests guard, as paths below the data root, for a seeded `district`.

Most of them query the most frequent resource, which is half of a database of any size. Members of arrays are not query
fields in Ed-Fi.
"""

from base64 import urlsafe_b64encode
from dataclasses import dataclass
from urllib.parse import urlencode

from tests.tools.seeding import district

RESOURCE = "StudentSchoolAttendanceEvent"
_ENDPOINT = "/studentSchoolAttendanceEvents"
_TARDY = "uri://ed-fi.org/AttendanceEventCategoryDescriptor#Tardy"
_LAST_ROW = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Place:
    """Facts about a database on which queries depend: its schools, and the rows of RESOURCE."""

    schools: int
    documents: int
    middle_row: int
    last_row: int


def pages(place: Place) -> dict[str, str]:
    """Pages that should take about the same time in a database of any size."""
    last_school = district.school_id(place.schools - 1)  # The last one may be incomplete.
    student = district.student_unique_id(place.schools - 1, 1)
    return {
        "no filter": _path(limit=25),
        "no filter, 500 documents": _path(limit=500),
        "value of all documents": _path(schoolYear=district.YEAR),
        "value of a third, other letters": _path(attendanceEventCategoryDescriptor=_TARDY.upper()),
        "value of one in 300": _path(attendanceEventReason=district.REASON),
        "first school": _path(schoolId=district.school_id(1)),
        "last school": _path(schoolId=last_school),
        "one student": _path(studentUniqueId=student),
        "last school and a third": _path(schoolId=last_school, attendanceEventCategoryDescriptor=_TARDY),
        "one student and a day": _path(studentUniqueId=student, eventDate="2025-08-27"),
        "no match": _path(attendanceEventReason="None of these"),
        "no match of frequent values": _path(schoolId=last_school, studentUniqueId=district.student_unique_id(1, 1)),
        "page by token, in the middle": _path(pageToken=_token(place.middle_row), pageSize=25),
        "page by token, the last": _path(pageToken=_token(place.last_row - 10), pageSize=25),
        "page by token of all documents": _path(
            schoolYear=district.YEAR, pageToken=_token(place.middle_row), pageSize=25
        ),
        "page by token of one school": _path(schoolId=last_school, pageToken=_token(place.middle_row), pageSize=25),
        "rare resource": "/localEducationAgencies?limit=25",
        "rare resource, value": "/localEducationAgencies?nameOfInstitution=Agency+1",
        "rare resource, no match": "/localEducationAgencies?nameOfInstitution=None",
        "empty resource": "/gradingPeriods?limit=25",
    }


# What `create_query_index` is given before `comparisons` are measured.
INDEXES = ("studentSchoolAttendanceEvents.eventDate", "students.lastSurname[prefix]")


def comparisons(place: Place) -> dict[str, str]:
    """Pages by operators and in the client's order, with INDEXES; the same time in a database of any size."""
    first_school = district.school_id(1)
    return {
        "range of days": _path(limit=25, **{"eventDate[gte]": "2025-09-01", "eventDate[lt]": "2025-09-08"}),
        "range of days, no match": _path(limit=25, **{"eventDate[gte]": "2035-01-01"}),
        "order of days": _path(limit=25, orderBy="-eventDate"),
        "order of days in a range": _path(limit=25, orderBy="eventDate", **{"eventDate[gte]": "2025-09-01"}),
        "order of days of one school": _path(limit=25, orderBy="eventDate", schoolId=first_school),
        "operator without index, one school": _path(
            limit=25, schoolId=first_school, **{"attendanceEventReason[exists]": "true"}
        ),
        "prefix": "/students?limit=25&" + urlencode({"lastSurname[prefix]": "LAST4"}),
        "prefix, no match": "/students?limit=25&" + urlencode({"lastSurname[prefix]": "zzz"}),
    }


def counts(place: Place) -> dict[str, str]:
    """Queries whose cost grows with the number of skipped or counted documents."""
    return {
        "deep offset": _path(limit=25, offset=place.documents - 100),
        "deep offset, value of all": _path(limit=25, offset=place.documents // 2, schoolYear=district.YEAR),
        "total": _path(limit=0, totalCount="true"),
        "total of one school": _path(limit=0, totalCount="true", schoolId=district.school_id(1)),
        "total of a value of all": _path(limit=0, totalCount="true", schoolYear=district.YEAR),
        "partitions": f"{_ENDPOINT}/partitions?number=10",
    }


def _path(**parameters: object) -> str:
    return f"{_ENDPOINT}?{urlencode(parameters)}"


def _token(first_row: int) -> str:
    return urlsafe_b64encode(b"%d,%d" % (first_row, _LAST_ROW)).decode().rstrip("=")
