"""Events of single days as squares, a column for each week: which days, and of which category."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

# A school year, and as many as are wide enough for the names of months.
MOST_WEEKS, FEWEST_WEEKS = 44, 12
# The numbers of looks. Categories that the layout does not name have the last two, frequent ones the first of these;
# all names are in the texts.
USUAL, ALARM, WARNING, OTHER, RARE = range(5)
_STEP, _SQUARE, _HEAD = 14, 12, 16
_SCHOOL_DAYS = 5
_WEEKS_OF_A_NAME = 2
_ONE_WEEK = timedelta(weeks=1)


@dataclass(frozen=True, slots=True)
class Event:
    """An event on a day."""

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
    """The weeks from the first event to the last, or to today; the latest ones if there are many."""

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


def calendar_of(events: Collection[Event], looks_of: Mapping[str, int], today: date) -> Calendar | None:
    """Return the calendar of events; None without any. `looks_of` are the looks of categories that the layout names."""
    if not events:
        return None
    last = max(each.day for each in events)
    weeks = _weeks(min(each.day for each in events), last, today)
    shown = [each for each in events if each.day >= weeks[0]]
    looks = _looks(shown, looks_of)
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


def _weeks(first: date, last: date, today: date) -> list[date]:
    """The Mondays. Those after the last event say that nothing has happened since."""
    reaches_today = _monday(today) - _monday(first) < MOST_WEEKS * _ONE_WEEK
    monday = _monday(max(last, today) if reaches_today else last)
    number = (monday - _monday(first)) // _ONE_WEEK + 1
    number = min(max(number, FEWEST_WEEKS), MOST_WEEKS)
    return [monday - back * _ONE_WEEK for back in reversed(range(number))]


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _looks(events: Collection[Event], looks_of: Mapping[str, int]) -> dict[str, int]:
    """The looks of the categories, in the order in which they are listed: usual ones last."""
    counts = Counter(each.category for each in events)
    others = [name for name, _ in counts.most_common() if name not in looks_of]
    looks = {name: looks_of.get(name, OTHER if name in others[:1] else RARE) for name in counts}
    return dict(sorted(looks.items(), key=lambda found: (found[1] or RARE + 1, -counts[found[0]], found[0])))


def _squares(weeks: list[date], days: int, by_day: dict[date, list[str]], looks: dict[str, int]) -> Iterator[Square]:
    for column, monday in enumerate(weeks):
        for row in range(days):
            day = monday + timedelta(days=row)
            found = sorted(by_day.get(day, ()), key=lambda name: looks[name] or RARE + 1)
            text = f"{day:%a} {day}: {', '.join(dict.fromkeys(found))}" if found else f"{day:%a} {day}"
            yield Square(column * _STEP, _HEAD + row * _STEP, text, looks[found[0]] if found else None)


def _months(weeks: list[date]) -> Iterator[Month]:
    """Each above the first week that begins in it, where the name has room before the next one and before the edge."""
    firsts = [place for place, monday in enumerate(weeks) if place == 0 or monday.month != weeks[place - 1].month]
    for place, following in pairwise([*firsts, len(weeks)]):
        if following - place >= _WEEKS_OF_A_NAME:
            yield Month(place * _STEP, f"{weeks[place]:%b}")
