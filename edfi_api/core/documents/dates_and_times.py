"""Dates and times as people and programs write them → the forms in which they are stored.

What can be read in one way only is read; what can be read in two ways, or is no day at all, is left to `advice`, which
says what to write instead. The one exception are dates with slashes, `8/9/2025`, which are American: the month is
first, and strict handling refuses them. See meadowlark/docs/reference/contract.md#dates-and-times.
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from edfi_api.core.documents.blanks import without_blanks
from edfi_api.core.documents.violations import Reason

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_LENGTH_OF_A_DATE = 10
_STORED_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", re.ASCII)
_USUAL_TIME = re.compile(r"\d{2}:\d{2}:\d{2}(\.\d+)?", re.ASCII)
_STORED_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d", re.ASCII)
_LONGEST = 64
# Two-digit years as in POSIX.
_FIRST_YEAR_OF_1900S = 69
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = r"(?P<month>(jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)(?=[^a-z])|" + "|".join(_MONTHS) + r")\.?"
_FLAGS = re.ASCII | re.IGNORECASE
_YEAR_FIRST = re.compile(r"(?P<year>\d{4})(?P<sign>[-/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})(?!\d)", _FLAGS)
_COMPACT_YEAR_LAST = re.compile(r"(?P<first>\d{2})(?P<second>\d{2})(?P<year>\d{4})(?!\d)", _FLAGS)
_ORDERS_OF_SHORT_YEARS = (("year", "first", "second"), ("year", "second", "first"), ("first", "second", "year"))
_COMPACT = re.compile(r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?!\d)", _FLAGS)
_YEAR_LAST = re.compile(
    r"(?P<first>\d{1,2})(?P<sign>[-/.])(?P<second>\d{1,2})(?P=sign)(?P<year>\d{4}|\d{2})(?!\d)", _FLAGS
)
_NAMED_MONTHS = (
    re.compile(rf"(?P<day>\d{{1,2}})[- ]{_MONTH}(?:[- ]|, )(?P<year>\d{{4}})(?!\d)", _FLAGS),
    re.compile(rf"{_MONTH} (?P<day>\d{{1,2}}),? (?P<year>\d{{4}})(?!\d)", _FLAGS),
    re.compile(rf"(?P<year>\d{{4}})[- ]{_MONTH}[- ](?P<day>\d{{1,2}})(?!\d)", _FLAGS),
)
_SHORT_YEAR_WITH_MONTH = re.compile(rf"(?P<first>\d{{1,2}})[- ]{_MONTH}[- ](?P<second>\d{{1,2}})(?!\d)", _FLAGS)
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(:(?P<second>\d{2})([.,]\d+)?)?( ?(?P<half>[AP])\.?M\.?)?", _FLAGS
)
_COMPACT_CLOCK = re.compile(r"(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?", _FLAGS)
_ZONE = re.compile(r"(?P<time>.*\d) ?(?P<zone>Z|[+-]\d{2}:?(\d{2})?)", _FLAGS)


@dataclass(frozen=True, slots=True)
class ReadTimestamp:
    """What a text means in its stored form, and why strict handling refuses the text; None if it does not."""

    stored: str
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class _Day:
    """A date as it is written: the year, month and day that it has, which need not exist, by one convention; `end` is
    where it ends in the text."""

    year: int
    month: int
    day: int
    end: int
    reason: Reason | None = None

    def exists(self) -> bool:
        return self.year >= 1 and 1 <= self.month <= 12 and 1 <= self.day <= monthrange(self.year, self.month)[1]

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.month:02d}-{self.day:02d}"


def read_date(text: str) -> ReadTimestamp | None:
    """A date, with or without a time, which is dropped; None for a text that is none, or may be two."""
    if _ISO_DATE.fullmatch(text):
        return ReadTimestamp(text) if is_date(text) else None
    found = _read_timestamp(text)
    return None if found is None else ReadTimestamp(found[0].date().isoformat(), found[1])


def read_date_time(text: str) -> ReadTimestamp | None:
    """A date with or without a time; without a zone it is of UTC."""
    found = _read_timestamp(text)
    return None if found is None else ReadTimestamp(_stored_date_time(found[0]), found[1])


def read_time(text: str) -> ReadTimestamp | None:
    """A time of day on the 24-hour clock, `08:15`, or with AM or PM. `Z` is tolerated after it; another zone is not,
    since it would be another time elsewhere."""
    time = without_blanks(text)
    if len(time) > _LONGEST:
        return None
    if time[-1:] in ("Z", "z"):
        time = time[:-1].rstrip()
    found = _clock(time)
    if found is None:
        return None
    return ReadTimestamp(_written(*found), None if _USUAL_TIME.fullmatch(text) else Reason.OTHER_FORM)


def advice(text: str, format_: str) -> str:
    """The advice what to write in place of a text that is not read as a `date`, a `date-time` or a `time`; empty if
    nothing is known."""
    text = without_blanks(text)
    if len(text) > _LONGEST or format_ not in ("date", "date-time", "time"):
        return ""
    return _advice_for_time(text) if format_ == "time" else _advice_for_date(text)


def is_date(text: str) -> bool:
    """Return whether this is a valid date in its stored form, `2026-01-05`."""
    return len(text) == _LENGTH_OF_A_DATE and _parse_iso(text) is not None


def is_date_time(text: str) -> bool:
    """Return whether this is a valid date-time in its stored form, `2026-01-05T08:15:00Z`."""
    return bool(_STORED_DATE_TIME.fullmatch(text)) and _parse_iso(text) is not None


def is_time(text: str) -> bool:
    """Return whether this is a time of day in its stored form, `08:15:00`."""
    return bool(_STORED_TIME.fullmatch(text))


def _read_timestamp(text: str) -> tuple[datetime, Reason | None] | None:
    trimmed = without_blanks(text)
    if len(trimmed) > _LONGEST:
        return None
    days = [day for day in _days(trimmed) if day.exists()]
    # Equal days by two conventions, `8-8-2021`, are one.
    if len({str(day) for day in days}) != 1:
        return None
    day = days[0]
    rest = trimmed[day.end :]
    timestamp = _timestamp(str(day), rest)
    if timestamp is None:
        return None
    return timestamp, day.reason or (Reason.OTHER_FORM if trimmed is not text else None)


def _days(text: str) -> list[_Day]:
    """The days that the date at the beginning of a text may mean; empty if no date is there."""
    if found := _YEAR_FIRST.match(text):
        month, day = found["month"], found["day"]
        is_usual = found["sign"] != "." and len(month) == len(day) == 2
        return [_day(found, month, day, None if is_usual else Reason.OTHER_FORM)]
    if found := _YEAR_LAST.match(text):
        return _with_slashes(found) if found["sign"] == "/" else _year_last(found)
    if found := _COMPACT.match(text):
        return [_day(found, found["month"], found["day"], Reason.OTHER_FORM)]
    for pattern in _NAMED_MONTHS:
        if found := pattern.match(text):
            return [_day(found, _number_of_month(found["month"]), found["day"], Reason.OTHER_FORM)]
    return []


def _day(found: re.Match[str], month: str | int, day: str | int, reason: Reason | None) -> _Day:
    return _Day(_year(found["year"]), int(month), int(day), found.end(), reason)


def _with_slashes(found: re.Match[str]) -> list[_Day]:
    """The month is first, unless only the other order is a date and the year has four digits."""
    first, second = int(found["first"]), int(found["second"])
    is_short = len(found["year"]) == 2
    if first > 12 and not is_short:
        return [_day(found, second, first, None)]
    is_ambiguous = is_short or (first != second and second <= 12)
    return [_day(found, first, second, Reason.AMBIGUOUS_DATE if is_ambiguous else None)]


def _year_last(found: re.Match[str]) -> list[_Day]:
    """Return the days that a date with its year last may mean: with hyphens and dots some write the month first, others
    the day. Which of three short numbers is the year, no one knows.
    """
    if len(found["year"]) == 2:
        return []
    orders = ((found["first"], found["second"]), (found["second"], found["first"]))
    return [_day(found, month, day, Reason.OTHER_FORM) for month, day in orders]


def _year(text: str) -> int:
    year = int(text)
    if len(text) == 2:
        year += 1900 if year >= _FIRST_YEAR_OF_1900S else 2000
    return year


def _number_of_month(name: str) -> int:
    return next(number for number, each in enumerate(_MONTHS, start=1) if each.startswith(name.lower()[:3]))


def _timestamp(day: str, rest: str) -> datetime | None:
    """The day with the time after it: as ISO 8601 has it, or on a clock of twelve hours."""
    if parsed := _parse_iso(day + rest):
        return parsed
    if rest[:1] not in (" ", "T", "t"):
        return None
    time, zone = rest[1:].strip(), ""
    if found := _ZONE.fullmatch(time):
        time, zone = found["time"], found["zone"]
    clock = _clock(time, may_be_short=True)
    return None if clock is None else _parse_iso(f"{day}T{clock[0]:02d}:{clock[1]:02d}:{clock[2]:02d}{zone}")


def _clock(text: str, *, may_be_short: bool = False) -> tuple[int, int, int] | None:
    """Hour, minute and second of `08:15`, `8:15 PM`, `0815`. Without AM or PM an hour of one digit may be in the
    afternoon; after a date it is taken as it is."""
    found = _CLOCK.fullmatch(text) or _COMPACT_CLOCK.fullmatch(text)
    if found is None:
        return None
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    half = found.groupdict().get("half")
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in "Pp" else 0)
    elif len(found["hour"]) == 1 and not may_be_short:
        return None
    return (hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def _parse_iso(text: str) -> datetime | None:
    if not _ISO_DATE.match(text):  # Python also reads `2026-W02`.
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _stored_date_time(timestamp: datetime) -> str:
    """`2026-01-05T08:15:00Z`: UTC in whole seconds."""
    if timestamp.tzinfo is None:
        timestamp = timestamp.replace(tzinfo=UTC)
    try:
        timestamp = timestamp.astimezone(UTC)
    except OverflowError:  # the first and last hours that datetime can represent may have no UTC form
        timestamp = timestamp.replace(tzinfo=UTC)
    return f"{timestamp.year:04d}-{timestamp:%m-%dT%H:%M:%SZ}"


def _advice_for_date(text: str) -> str:
    days = [*_days(text), *_other_days(text)]
    existing = _existing(_days(text)) or _existing(_other_days(text))
    if len(existing) > 1:
        return f"It can be read in {_in_words(len(existing))} ways: write {' or '.join(existing)}."
    if existing:
        return f"For a date write {existing[0]}."
    in_a_month = (day for day in days if 1 <= day.month <= 12)
    return _why_there_is_no_such_day(next(in_a_month, days[0])) if days else ""


def _in_words(number: int) -> str:
    return {2: "two", 3: "three"}.get(number, str(number))


def _existing(days: Iterable[_Day]) -> list[str]:
    return list(dict.fromkeys(str(day) for day in days if day.exists()))


def _other_days(text: str) -> Iterator[_Day]:
    """Dates in forms that are not read: with years of two digits, and digits alone that end with the year."""
    if (found := _YEAR_LAST.match(text)) and len(found["year"]) == 2:
        for year, month, day in _ORDERS_OF_SHORT_YEARS:
            yield _Day(_year(found[year].zfill(2)), int(found[month]), int(found[day]), found.end())
    elif found := _SHORT_YEAR_WITH_MONTH.match(text):
        for year, day in ((found["second"], found["first"]), (found["first"], found["second"])):
            yield _Day(_year(year.zfill(2)), _number_of_month(found["month"]), int(day), found.end())
    elif found := _COMPACT_YEAR_LAST.match(text):
        for month, day in ((found["first"], found["second"]), (found["second"], found["first"])):
            yield _Day(int(found["year"]), int(month), int(day), found.end())


def _why_there_is_no_such_day(day: _Day) -> str:
    if 1 <= day.month <= 12 and day.year >= 1:
        name = _MONTHS[day.month - 1].capitalize()
        return f"There is no such day: {name} {day.year:04d} has {monthrange(day.year, day.month)[1]} days."
    return f"There is no such day: there is no month {day.month}." if day.year >= 1 else "There is no such day."


def _advice_for_time(text: str) -> str:
    if reading := read_time(text):
        return f"Write {reading.stored}."
    if found := _ZONE.fullmatch(text):
        clock = _clock(found["time"].strip(), may_be_short=True)
        return "" if clock is None else f"Write the time where it is, without a zone: {_written(*clock)}."
    clock = _clock(text, may_be_short=True)
    if clock is None:
        return ""
    hour, minute, second = clock
    other = f" or {_written(hour + 12, minute, second)}" if 1 <= hour < 12 else ""
    return f"It can be read in two ways: write {_written(hour, minute, second)}{other}."


def _written(hour: int, minute: int, second: int) -> str:
    return f"{hour:02d}:{minute:02d}:{second:02d}"
