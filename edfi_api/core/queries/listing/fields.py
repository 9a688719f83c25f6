"""Fields of rows: what query strings can name, and how their values are read."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from edfi_api.core.queries.parameters import is_natural_number
from references.identity import as_uuid

_BIGINT = range(-(2**63), 2**63)
_INTEGER = re.compile(r"-?[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class FieldType:
    """`read` returns the value of a text, and raises ValueError if it has none; `problem` is then the message to the
    client, with `{name}` and `{text}`. `sql` is PostgreSQL's name of the type, `selected` the SQL that reads a
    `{value}`."""

    read: Callable[[str], Any]
    problem: str = ""
    sql: str = "text"
    selected: str = "({value})::text"


@dataclass(frozen=True, slots=True)
class Field:
    """A value of each row. `source` is its SQL, or the lookup of a query set; of a repeated parameter all values count
    if the field `is_repeated`, otherwise the last."""

    name: str
    source: str
    type: FieldType
    is_repeated: bool = False

    @property
    def selected(self) -> str:
        """The SQL that reads it."""
        return self.type.selected.format(value=self.source)


def one_of(choices: Iterable[str]) -> FieldType:
    """Some lower-cased texts, in any case."""
    known = tuple(choices)

    def read(text: str) -> str:
        if text.lower() not in known:
            raise ValueError(text)
        return text.lower()

    return FieldType(read, f"{{name}} must be one of: {', '.join(known)}.")


def natural_number(largest: int, problem: str = "{name} must be a number.", smallest: int = 0) -> FieldType:
    """An integer from `smallest` to `largest`."""

    def read(text: str) -> int:
        if not is_natural_number(text, largest) or int(text) < smallest:
            raise ValueError(text)
        return int(text)

    return FieldType(read, problem, "bigint", "({value})::bigint")


def _text(text: str) -> str:
    if "\0" in text:  # No stored text has it.
        raise ValueError(text)
    return text


def _uuid(text: str) -> str:
    if as_uuid(text) is None:
        raise ValueError(text)
    return text


def _bigint(text: str) -> int:
    if not _INTEGER.fullmatch(text) or int(text) not in _BIGINT:
        raise ValueError(text)
    return int(text)


def _timestamp(text: str) -> str:
    """Return the time of the text. Without an offset it is in UTC, as times in answers are."""
    timestamp = datetime.fromisoformat(text)
    return (timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)).isoformat()


def _date(text: str) -> str:
    return date.fromisoformat(text).isoformat()


TEXT = FieldType(_text, "A value has a NUL in it.")
UUID = FieldType(_uuid, "{name} must be an id.", "uuid", "({value})::uuid")
BIGINT = FieldType(_bigint, "{name} must be a number.", "bigint", "({value})::bigint")
DATE = FieldType(_date, sql="date")
# Answers have it in UTC, with microseconds.
TIMESTAMP = FieldType(
    _timestamp,
    sql="timestamptz",
    selected="""to_char({value} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')""",
)
