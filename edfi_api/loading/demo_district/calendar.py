"""The school year of the district: its days, semesters and holidays."""

from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from edfi_api.model.examples import SCHOOL_YEAR

FIRST_DAY = date(SCHOOL_YEAR - 1, 8, 18)
LAST_DAY = date(SCHOOL_YEAR, 6, 5)
# As date.month and date.day: Labor Day, Thanksgiving, winter break, spring break, Memorial Day.
_HOLIDAYS = (
    (date(SCHOOL_YEAR - 1, 9, 1), 1),
    (date(SCHOOL_YEAR - 1, 11, 24), 5),
    (date(SCHOOL_YEAR - 1, 12, 22), 12),
    (date(SCHOOL_YEAR, 3, 16), 5),
    (date(SCHOOL_YEAR, 5, 25), 1),
)
_SATURDAY = 5


class Semester(NamedTuple):
    """A session of every school, with the grading period of the same days."""

    name: str
    term: str
    grading_period: str
    sequence: int
    begin: date
    end: date


SEMESTERS = (
    Semester("Fall", "Fall Semester", "First Semester", 1, FIRST_DAY, date(SCHOOL_YEAR, 1, 9)),
    Semester("Spring", "Spring Semester", "Second Semester", 2, date(SCHOOL_YEAR, 1, 12), LAST_DAY),
)


@cache
def weekdays() -> tuple[date, ...]:
    """All of the year that are not in a weekend."""
    days = (FIRST_DAY + timedelta(days=number) for number in range((LAST_DAY - FIRST_DAY).days + 1))
    return tuple(day for day in days if day.weekday() < _SATURDAY)


@cache
def holidays() -> frozenset[date]:
    """Days without instruction, weekends among them where a holiday spans them."""
    return frozenset(first + timedelta(days=number) for first, days in _HOLIDAYS for number in range(days))


@cache
def instructional_days(begin: date, end: date) -> tuple[date, ...]:
    """The days between these, both included, on which school is held."""
    return tuple(day for day in weekdays() if begin <= day <= end and day not in holidays())
