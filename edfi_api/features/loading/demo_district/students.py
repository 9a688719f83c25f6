"""Drafts of the students of the district, their families, classes, marks and attendance."""

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import count, islice

from edfi_api.features.loading.demo_district import place
from edfi_api.features.loading.demo_district.place import Draft, PlacedDraft
from edfi_api.features.loading.demo_district.schools import GRADES, STUDENTS_OF_A_SECTION, kind_of, students_of_a_grade
from edfi_api.model.examples import Sparse

Drafts = Iterator[Draft]

_AGE_OF_THE_FIRST_GRADE = 5
_SHARE_ENTERING_LATE = 0.04
_SHARE_LEAVING = 0.03
_SHARE_IN_SPECIAL_EDUCATION = 0.08
_MEAN_ABSENCES = 7
_MOST_ABSENCES = 40
_STUDENTS_TO_AN_INCIDENT = 40
_RACES = ("Asian", "Black or African American", "Other", "White")
_ABSENCES = ("Excused Absence", "Unexcused Absence", "Tardy")
_PARENTS = (("Mother", place.FEMALE), ("Father", place.MALE))
_LETTERS = ((90, "A"), (80, "B"), (70, "C"), (60, "D"), (0, "F"))
_DISABILITIES = ("Autism Spectrum Disorders", "Specific Learning Disability", "Speech or Language Impairment")


def students(school: PlacedDraft) -> Drafts:
    """Yield the students of one grade after the other."""
    random = school.random
    numbers = count(1)
    for grade in kind_of(school).grades:
        born = date(school.year.first_day.year - _AGE_OF_THE_FIRST_GRADE - GRADES.index(grade), 8, 31)
        for number in islice(numbers, students_of_a_grade(school)):
            sex = place.sex(random)
            yield Draft(
                {
                    "studentUniqueId": f"77{school.number}{number:05}",
                    "firstName": place.first_name(random, sex),
                    "lastSurname": place.last_name(random),
                    "birthDate": (born - timedelta(days=random.randrange(365))).isoformat(),
                    "birthSexDescriptor": sex,
                }
            )


def _grade(student: PlacedDraft) -> str:
    school = student.above("School")
    position = student.number - school.below("Student")[0].number
    return kind_of(school).grades[position // students_of_a_grade(school)]


def enrollment(student: PlacedDraft) -> Drafts:
    """Yield enrollments, for most from the first day on and without an end."""
    random, first_day = student.random, student.year.first_day
    days = student.year.days_held(first_day, student.year.last_day)
    entry = random.choice(days[5:-20]) if random.random() < _SHARE_ENTERING_LATE else first_day
    left = {}
    if entry == first_day and random.random() < _SHARE_LEAVING:
        left = {"exitWithdrawDate": random.choice(days[20:]).isoformat(), "exitWithdrawTypeDescriptor": "Transferred"}
    yield Draft({"entryDate": entry.isoformat(), "entryGradeLevelDescriptor": _grade(student), **left})


def demographics_and_address(student: PlacedDraft) -> Drafts:
    yield Draft({**_demographics(student), **_address(student)})


def demographics(student: PlacedDraft) -> Drafts:
    yield Draft(_demographics(student))


def address(student: PlacedDraft) -> Drafts:
    yield Draft(_address(student))


def _demographics(student: PlacedDraft) -> Sparse:
    random = student.random
    race = random.choice(_RACES)
    return {
        "sexDescriptor": student.sparse["birthSexDescriptor"],
        "hispanicLatinoEthnicity": random.random() < 0.3,
        "races": [{"raceDescriptor": race}],
    }


def _address(student: PlacedDraft) -> Sparse:
    street = place.street(student.random)
    return {"addresses": [{"addressTypeDescriptor": "Home", "streetNumberName": street, **_TOWN}]}


_TOWN = {"city": "Lark Meadow", "stateAbbreviationDescriptor": "TX", "postalCode": "78701"}


def contacts(student: PlacedDraft) -> Drafts:
    """One or two parents, of the same name as the child."""
    random = student.random
    for number, (_, sex) in enumerate(_PARENTS[: random.choice((1, 2, 2))], start=1):
        unique_id = f"{student.sparse['studentUniqueId']}{number}"
        yield Draft(
            {
                "contactUniqueId": unique_id,
                "parentUniqueId": unique_id,
                "firstName": place.first_name(random, sex),
                "lastSurname": student.sparse["lastSurname"],
                "electronicMails": [
                    {
                        "electronicMailAddress": f"family{unique_id}@example.org",
                        "electronicMailTypeDescriptor": "Home/Personal",
                    }
                ],
            }
        )


def family(contact: PlacedDraft) -> Drafts:
    is_first = contact.parent is not None and contact is contact.parent.below("Contact")[0]
    relation, _ = _PARENTS[0 if is_first else 1]
    yield Draft({"relationDescriptor": relation, "primaryContactStatus": is_first, "livesWith": True})


def classes(section: PlacedDraft) -> Drafts:
    """The students of a section: a slice of the grade, as far as they are enrolled in the semester."""
    school, session = section.above("School"), section.above("Session").sparse
    [offered] = section.above("Course").sparse["offeredGradeLevels"]
    size = students_of_a_grade(school)
    number = int(section.sparse["sectionIdentifier"].rpartition("-")[2]) - 1
    of_grade = kind_of(school).grades.index(offered["gradeLevelDescriptor"]) * size
    first, last = of_grade + number * STUDENTS_OF_A_SECTION, of_grade + size
    for student in school.below("Student")[first : min(first + STUDENTS_OF_A_SECTION, last)]:
        entry, left = _enrolled(student)
        begin, end = max(entry, session["beginDate"]), min(left, session["endDate"])
        if begin <= end:
            yield Draft({"beginDate": begin, "endDate": end}, student)


def _enrolled(student: PlacedDraft) -> tuple[str, str]:
    """The first and the last day, as they are written, which sorts as they do."""
    [enrolled] = student.below("StudentSchoolAssociation")
    return enrolled.sparse["entryDate"], enrolled.sparse.get("exitWithdrawDate", student.year.last_day.isoformat())


def marks(attended: PlacedDraft) -> Drafts:
    """Yield the marks for the semester of the class, once it has begun."""
    points = min(100, max(35, round(attended.random.gauss(82, 10))))
    session, begin = (attended.above("Session").sparse[name] for name in ("sessionName", "beginDate"))
    if begin > attended.year.today.isoformat():
        return
    periods = attended.above("School").below("GradingPeriod")
    yield Draft(
        {
            "gradeTypeDescriptor": "Semester",
            "numericGradeEarned": points,
            "letterGradeEarned": next(letter for least, letter in _LETTERS if points >= least),
        },
        periods[[each.sparse["sessionName"] for each in attended.above("School").below("Session")].index(session)],
    )


def attendance(student: PlacedDraft) -> Drafts:
    """Absences: days without an event were attended."""
    random = student.random
    entry, left = _enrolled(student)
    days = student.year.days_held(date.fromisoformat(entry), date.fromisoformat(left))
    count = min(int(random.expovariate(1 / _MEAN_ABSENCES)), _MOST_ABSENCES, len(days))
    for day in sorted(random.sample(days, count)):
        session = next(
            each
            for each in student.above("School").below("Session")
            if each.sparse["beginDate"] <= day.isoformat() <= each.sparse["endDate"]
        )
        yield Draft(
            {"eventDate": day.isoformat(), "attendanceEventCategoryDescriptor": random.choice(_ABSENCES)}, session
        )


def special_education(student: PlacedDraft) -> Drafts:
    random = student.random
    if random.random() >= _SHARE_IN_SPECIAL_EDUCATION:
        return
    entry, _ = _enrolled(student)
    [program] = student.above("LocalEducationAgency").below("Program")
    yield Draft(
        {
            "beginDate": entry,
            "ideaEligibility": True,
            "iepBeginDate": entry,
            "iepReviewDate": entry,
            "iepEndDate": (date.fromisoformat(entry) + timedelta(days=364)).isoformat(),
            "disabilities": [{"disabilityDescriptor": random.choice(_DISABILITIES)}],
        },
        program,
    )


def incidents(school: PlacedDraft) -> Drafts:
    days = school.year.days_held(school.year.first_day, school.year.last_day)
    for number in range(1, 1 + len(school.below("Student")) // _STUDENTS_TO_AN_INCIDENT):
        yield Draft({"incidentIdentifier": f"{number}", "incidentDate": school.random.choice(days).isoformat()})


def behavior(incident: PlacedDraft) -> Drafts:
    student = incident.random.choice(incident.above("School").below("Student"))
    yield Draft({"behaviorDescriptor": "School Code of Conduct"}, student)
