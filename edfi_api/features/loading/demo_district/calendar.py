"""The school year of the district: its days, semesters and holidays, and the day that is today in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

_MONDAY, _THURSDAY, _FRIDAY, _SATURDAY = 0, 3, 4, 5
# A younger school year has too little in it to look at.
_FIRST_WEEKS = timedelta(weeks=8)


class Semester(NamedTuple):
    """A session of every school, with the grading period of the same days."""

    name: str
    term: str
    grading_period: str
    sequence: int
    begin: date
    end: date


@dataclass(frozen=True, slots=True)
class SchoolYear:
    """The school year that ends in this calendar year, as it is on a day: later days are planned, but nothing has
    happened on them."""

    year: int
    today: date

    @classmethod
    def of(cls, day: date) -> SchoolYear:
        """The school year of a day, from its ninth week on; before, the last one, as it was in the end."""
        begun = cls(day.year + 1, day)
        if day >= begun.first_day + _FIRST_WEEKS:
            return begun
        return cls(day.year, min(day, cls(day.year, day).last_day))

    @property
    def first_day(self) -> date:
        return _weekday(3, _MONDAY, self.year - 1, 8)

    @property
    def last_day(self) -> date:
        return _weekday(1, _FRIDAY, self.year, 6)

    @property
    def labor_day(self) -> date:
        return _weekday(1, _MONDAY, self.year - 1, 9)

    @property
    def semesters(self) -> tuple[Semester, Semester]:
        end_of_fall = self._winter_break + timedelta(days=18)
        spring = end_of_fall + timedelta(days=3)
        return (
            Semester("Fall", "Fall Semester", "First Semester", 1, self.first_day, end_of_fall),
            Semester("Spring", "Spring Semester", "Second Semester", 2, spring, self.last_day),
        )

    @property
    def semester(self) -> Semester:
        """Return the semester of today."""
        fall, spring = self.semesters
        return fall if self.today < spring.begin else spring

    @property
    def _winter_break(self) -> date:
        """The Monday before Christmas."""
        christmas = date(self.year - 1, 12, 25)
        return christmas - timedelta(days=christmas.weekday())

    def weekdays(self) -> tuple[date, ...]:
        """All of the year that are not in a weekend."""
        return _weekdays(self.first_day, self.last_day)

    def holidays(self) -> frozenset[date]:
        """Days without instruction, weekends among them where a holiday spans them: Labor Day, Thanksgiving, winter
        break, spring break, Memorial Day."""
        thanksgiving = _weekday(4, _THURSDAY, self.year - 1, 11) - timedelta(days=_THURSDAY)
        memorial_day = date(self.year, 5, 31) - timedelta(days=date(self.year, 5, 31).weekday())
        spans = (
            (self.labor_day, 1),
            (thanksgiving, 5),
            (self._winter_break, 12),
            (_weekday(3, _MONDAY, self.year, 3), 5),
            (memorial_day, 1),
        )
        return frozenset(first + timedelta(days=number) for first, days in spans for number in range(days))

    def instructional_days(self, begin: date, end: date) -> tuple[date, ...]:
        """The days between these, both included, on which school is held."""
        return _instructional_days(self, begin, end)

    def days_held(self, begin: date, end: date) -> tuple[date, ...]:
        """Return the days until today."""
        return _instructional_days(self, begin, min(end, self.today))


def _weekday(number: int, weekday: int, year: int, month: int) -> date:
    """The first, second, … of these days of the week in a month."""
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))


@cache
def _weekdays(first: date, last: date) -> tuple[date, ...]:
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    return tuple(day for day in days if day.weekday() < _SATURDAY)


@cache
def _instructional_days(year: SchoolYear, begin: date, end: date) -> tuple[date, ...]:
    holidays = year.holidays()
    return tuple(day for day in year.weekdays() if begin <= day <= end and day not in holidays)
