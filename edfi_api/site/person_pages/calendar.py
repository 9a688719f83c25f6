"""Events of single days as squares, a column for each week: which days, and of which category."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

# A school year.
MOST_WEEKS = 44
# Categories beyond have the look of the last one; their names are in the texts.
_LOOKS = 4
_USUAL = 0
_STEP, _SQUARE, _HEAD = 14, 12, 16
_SCHOOL_DAYS = 5
_ONE_WEEK = timedelta(weeks=1)


@dataclass(frozen=True, slots=True)
class Event:
    """What happened on a day."""

    day: date
    category: str


@dataclass(frozen=True, slots=True)
class Category:
    """A category, how many events it has, and the number of its look."""

    name: str
    number: int
    look: int


@dataclass(frozen=True, slots=True)
class Square:
    """A day; `look` is None without events."""

    x: int
    y: int
    text: str
    look: int | None


@dataclass(frozen=True, slots=True)
class Month:
    """The name of a month above its first week."""

    x: int
    name: str


@dataclass(frozen=True, slots=True)
class Calendar:
    """The weeks from the first event to the last, the latest ones if there are many."""

    squares: Sequence[Square]
    months: Sequence[Month]
    categories: Sequence[Category]
    width: int
    height: int
    first: date
    last: date
    size: int = _SQUARE

    @property
    def text(self) -> str:
        """`From 2026-08-17 to 2026-11-27: Tardy 3, Excused Absence 2.`"""
        counts = ", ".join(f"{each.name} {each.number}" for each in self.categories)
        return f"From {self.first} to {self.last}: {counts}."


def calendar_of(events: Collection[Event], usual: Collection[str]) -> Calendar | None:
    """Return the calendar of events, with the frequent categories first; None without events."""
    if not events:
        return None
    last = max(each.day for each in events)
    weeks = _weeks(min(each.day for each in events), last)
    shown = [each for each in events if each.day >= weeks[0]]
    looks = _looks(shown, usual)
    by_day: dict[date, list[str]] = {}
    for each in shown:
        by_day.setdefault(each.day, []).append(each.category)
    days = 7 if any(day.weekday() >= _SCHOOL_DAYS for day in by_day) else _SCHOOL_DAYS
    counts = Counter(each.category for each in shown)
    return Calendar(
        squares=list(_squares(weeks, days, by_day, looks)),
        months=list(_months(weeks)),
        categories=[Category(name, counts[name], look) for name, look in looks.items()],
        width=len(weeks) * _STEP,
        height=_HEAD + days * _STEP,
        first=min(by_day),
        last=last,
    )


def _weeks(first: date, last: date) -> list[date]:
    """The Mondays."""
    monday = last - timedelta(days=last.weekday())
    weeks: list[date] = []
    while monday + _ONE_WEEK > first and len(weeks) < MOST_WEEKS:
        weeks.append(monday)
        monday -= _ONE_WEEK
    return weeks[::-1]


def _looks(events: Collection[Event], usual: Collection[str]) -> dict[str, int]:
    counts = Counter(each.category for each in events)
    by_number = sorted(counts, key=lambda name: (name in usual, -counts[name], name))
    return {name: _USUAL if name in usual else min(place, _LOOKS) for place, name in enumerate(by_number, start=1)}


def _squares(weeks: list[date], days: int, by_day: dict[date, list[str]], looks: dict[str, int]) -> Iterator[Square]:
    for column, monday in enumerate(weeks):
        for row in range(days):
            day = monday + timedelta(days=row)
            found = sorted(by_day.get(day, ()), key=lambda name: looks[name] or _LOOKS + 1)
            text = f"{day:%a} {day}: {', '.join(dict.fromkeys(found))}" if found else f"{day:%a} {day}"
            yield Square(column * _STEP, _HEAD + row * _STEP, text, looks[found[0]] if found else None)


def _months(weeks: list[date]) -> Iterator[Month]:
    """A month that begins in the last two weeks would have its name beyond the edge."""
    shown = 0
    for column, monday in enumerate(weeks):
        if monday.month != shown and column < len(weeks) - 1:
            shown = monday.month
            yield Month(column * _STEP, f"{monday:%b}")
