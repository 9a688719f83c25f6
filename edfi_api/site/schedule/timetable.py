"""When commands are due: every so often, or daily at a time in UTC. Pure Python."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

_INTERVAL = re.compile(r"([1-9][0-9]{0,4})([smhd])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Entry:
    """A command with its arguments, and when it is due; `when` as in `24h` or `02:00`."""

    when: str
    command: str

    def __str__(self) -> str:
        return f"{self.when} {self.command}"

    def due_after(self, last: datetime) -> datetime:
        """Return when it is due, if it was started last at this time."""
        if interval := _INTERVAL.fullmatch(self.when):
            return last + timedelta(**{_UNITS[interval[2]]: int(interval[1])})
        same_day = datetime.combine(last.astimezone(UTC).date(), time.fromisoformat(self.when), UTC)
        return same_day if same_day > last else same_day + timedelta(days=1)


def read_timetable(text: str) -> tuple[Entry, ...]:
    """The entries of `24h housekeeping; 02:00 run_validation`. Raises ValueError with the reason."""
    entries = tuple(_entry(part.strip()) for part in text.split(";") if part.strip())
    if twice := [entry for number, entry in enumerate(entries) if entry in entries[:number]]:
        raise ValueError(f"{str(twice[0])!r} is there twice")
    return entries


def _entry(text: str) -> Entry:
    when, _, command = text.partition(" ")
    if not command.strip() or not (_INTERVAL.fullmatch(when) or _TIME.fullmatch(when)):
        raise ValueError(f"{text!r} is not of the form '24h COMMAND' (s, m, h or d) or '02:00 COMMAND'")
    return Entry(when, " ".join(command.split()))
