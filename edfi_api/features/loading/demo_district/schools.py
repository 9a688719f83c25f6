"""Drafts of the organizations of the district, their calendars, courses and staff."""

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from edfi_api.features.loading.demo_district import place
from edfi_api.features.loading.demo_district.place import DISTRICT, Draft, PlacedDraft

STUDENTS_OF_A_SECTION = 25
SUBJECTS = ("English Language Arts", "Mathematics", "Science", "Social Studies", "Fine and Performing Arts")
GRADES = (
    "Kindergarten",
    *(f"{ordinal} grade" for ordinal in ["First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth"]),
    *(f"{ordinal} grade" for ordinal in ["Ninth", "Tenth", "Eleventh", "Twelfth"]),
)
AGENCY = 770_000

Drafts = Iterator[Draft]


class SchoolKind(NamedTuple):
    """A school, with the grades it has and its share of their students."""

    name: str
    category: str
    grades: tuple[str, ...]
    share: float = 1


_SCHOOLS = (
    SchoolKind("Finch Elementary School", "Elementary School", GRADES[:6], 0.5),
    SchoolKind("Alder Elementary School", "Elementary School", GRADES[:6], 0.5),
    SchoolKind("Creekside Middle School", "Middle School", GRADES[6:9]),
    SchoolKind("Lark Meadow High School", "High School", GRADES[9:]),
)


def agency(root: PlacedDraft) -> Drafts:
    yield Draft(
        {
            "localEducationAgencyId": AGENCY,
            "nameOfInstitution": "Lark Meadow School District",
            "localEducationAgencyCategoryDescriptor": "Regular public school district",
        }
    )


def program(agency: PlacedDraft) -> Drafts:
    yield Draft({"programName": "Special Education", "programTypeDescriptor": "Special Education"})


def schools(agency: PlacedDraft) -> Drafts:
    for number, kind in enumerate(_SCHOOLS, start=1):
        yield Draft(
            {
                "schoolId": AGENCY * 1000 + number,
                "nameOfInstitution": kind.name,
                "localEducationAgencyReference": {},
                "schoolCategories": [{"schoolCategoryDescriptor": kind.category}],
                "gradeLevels": [{"gradeLevelDescriptor": grade} for grade in kind.grades],
            }
        )


def kind_of(place: PlacedDraft) -> SchoolKind:
    return _SCHOOLS[place.above("School").number - 1]


def calendar(school: PlacedDraft) -> Drafts:
    yield Draft({"calendarCode": "Regular", "calendarTypeDescriptor": "School"})


def calendar_dates(calendar: PlacedDraft) -> Drafts:
    holidays = calendar.year.holidays()
    for day in calendar.year.weekdays():
        event = "Holiday" if day in holidays else "Instructional day"
        yield Draft({"date": day.isoformat(), "calendarEvents": [{"calendarEventDescriptor": event}]})


def grading_periods(school: PlacedDraft) -> Drafts:
    for semester in school.year.semesters:
        yield Draft(
            {
                "gradingPeriodDescriptor": semester.grading_period,
                "gradingPeriodName": semester.grading_period,
                "periodSequence": semester.sequence,
                "beginDate": semester.begin.isoformat(),
                "endDate": semester.end.isoformat(),
                "totalInstructionalDays": len(school.year.instructional_days(semester.begin, semester.end)),
            }
        )


def sessions(school: PlacedDraft) -> Drafts:
    for semester, period in zip(school.year.semesters, school.below("GradingPeriod"), strict=True):
        yield Draft(
            {
                "sessionName": semester.name,
                "termDescriptor": semester.term,
                "beginDate": semester.begin.isoformat(),
                "endDate": semester.end.isoformat(),
                "totalInstructionalDays": len(school.year.instructional_days(semester.begin, semester.end)),
                "gradingPeriods": [{"gradingPeriodReference": {}}],
            },
            period,
        )


def courses(school: PlacedDraft) -> Drafts:
    for grade in kind_of(school).grades:
        for subject in SUBJECTS:
            code = f"{subject[:3].upper()}-{GRADES.index(grade):02}"
            yield Draft(
                {
                    "courseCode": code,
                    "courseTitle": f"{subject}, {grade}",
                    "numberOfParts": len(school.year.semesters),
                    "identificationCodes": [
                        {"identificationCode": code, "courseIdentificationSystemDescriptor": "LEA course code"}
                    ],
                    "academicSubjects": [{"academicSubjectDescriptor": subject}],
                    "academicSubjectDescriptor": subject,
                    "offeredGradeLevels": [{"gradeLevelDescriptor": grade}],
                }
            )


def offerings(course: PlacedDraft) -> Drafts:
    code = course.sparse["courseCode"]
    for session in course.above("School").below("Session"):
        yield Draft({"localCourseCode": code, "localCourseTitle": course.sparse["courseTitle"]}, session)


def sections(offering: PlacedDraft) -> Drafts:
    students = students_of_a_grade(offering)
    for number in range(1, 2 + (students - 1) // STUDENTS_OF_A_SECTION):
        yield Draft({"sectionIdentifier": f"{offering.sparse['localCourseCode']}-{number}"})


def students_of_a_grade(place: PlacedDraft) -> int:
    """Return the number of students of a grade in one school."""
    kind = kind_of(place)
    students: int = place.above(DISTRICT).sparse["students"]
    return max(1, round(students / len(GRADES) * kind.share))


def staff(school: PlacedDraft) -> Drafts:
    """Teachers, each with five classes of a semester; the first of a school is the principal."""
    sections = len(school.below("Section")) // len(school.year.semesters)
    for number in range(2 + sections // len(SUBJECTS)):
        sex = place.sex(school.random)
        yield Draft(
            {
                "staffUniqueId": f"{school.sparse['schoolId']}{number:03}",
                "firstName": place.first_name(school.random, sex),
                "lastSurname": place.last_name(school.random),
                "sexDescriptor": sex,
                "highestCompletedLevelOfEducationDescriptor": "Bachelor's",
            }
        )


def employment(member: PlacedDraft) -> Drafts:
    hired = date(member.random.randint(2008, member.year.year - 2), 8, 1)
    yield Draft({"hireDate": hired.isoformat(), "employmentStatusDescriptor": "Tenured or permanent"})


def assignment(member: PlacedDraft) -> Drafts:
    is_principal = member is member.above("School").below("Staff")[0]
    yield Draft(
        {
            "staffClassificationDescriptor": "Principal" if is_principal else "Teacher",
            "positionTitle": "Principal" if is_principal else "Teacher",
            "beginDate": member.year.first_day.isoformat(),
        }
    )


def school_of_staff(member: PlacedDraft) -> Drafts:
    """Rosters know by it who works at a school."""
    grades = [{"gradeLevelDescriptor": grade} for grade in kind_of(member).grades]
    yield Draft({"programAssignmentDescriptor": "Regular Education", "gradeLevels": grades})


def teacher(section: PlacedDraft) -> Drafts:
    """All but the principal in turn."""
    school = section.above("School")
    teachers = school.below("Staff")[1:]
    yield Draft(
        {
            "classroomPositionDescriptor": "Teacher of Record",
            "beginDate": section.above("Session").sparse["beginDate"],
        },
        teachers[section.number % len(teachers)],
    )
