"""Lists over HTTP that are no collections of documents.

The fields of their rows say what query strings can name, how the values are read and which filters they make. A page
has the number of rows that a request selects, and the token of the next one; rows of SQL statements become JSON
objects.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, Generic, Protocol, Self, TypeVar

from django.http import QueryDict

from edfi_api.core.queries.collection import partition_sql
from edfi_api.core.queries.exceptions import (
    InvalidQueryValue,
    InvalidQueryValues,
    ParameterValidationFailed,
    UnknownQueryField,
)
from edfi_api.core.queries.pagination import Page, PageToken, smallest_part
from edfi_api.core.queries.parameters import is_natural_number
from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import Sql, all_of
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


@dataclass(frozen=True, slots=True)
class FieldFilter:
    """A field and the value that is requested; a list of values if the field is repeated."""

    field: Field
    value: Any


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A text that is no value of its field; `name` is that of the parameter, as it was sent."""

    field: Field
    name: str
    text: str

    @property
    def message(self) -> str:
        """The text for clients: `Status must be a number.`"""
        name = self.field.name[:1].upper() + self.field.name[1:]
        return self.field.type.problem.format(name=name, text=self.text)


@dataclass(frozen=True, slots=True)
class Filters:
    """All filters of a query string, and what could not be read, in the order of the query string."""

    read: list[FieldFilter]
    unreadable: list[_Unreadable]

    def or_invalid_values(self) -> list[FieldFilter]:
        """Raises InvalidQueryValues with all that could not be read, by the paths of fields."""
        if self.unreadable:
            raise InvalidQueryValues(
                [InvalidQueryValue(f"$.{each.field.name}", each.name, each.text) for each in self.unreadable]
            )
        return self.read

    def or_failed_validation(self) -> list[FieldFilter]:
        """Raises ParameterValidationFailed with a message about each text that could not be read."""
        if self.unreadable:
            raise ParameterValidationFailed([each.message for each in self.unreadable])
        return self.read


def read_filters(fields: Iterable[Field], query: QueryDict, others: Collection[str] | None = ()) -> Filters:
    """The filters of a query string. Names are case-insensitive. `others` are lower-cased names of parameters that are
    no filters; None lets every name be one. Raises UnknownQueryField for the first unknown name."""
    known = {field.name.lower(): field for field in fields}
    found = Filters([], [])
    for name, values in _last_spelling(query).values():
        field = known.get(name.lower())
        if field is not None:
            _read(field, name, values, found)
        elif others is not None and name.lower() not in others:
            raise UnknownQueryField(name)
    return found


def _last_spelling(query: QueryDict) -> Mapping[str, tuple[str, list[str]]]:
    """Lower-cased name → the name as sent, and its values."""
    return {name.lower(): (name, [str(value) for value in values]) for name, values in query.lists()}


def _read(field: Field, name: str, texts: list[str], found: Filters) -> None:
    values = []
    for text in texts if field.is_repeated else texts[-1:]:
        try:
            values.append(field.type.read(text))
        except ValueError:
            found.unreadable.append(_Unreadable(field, name, text))
    if values:
        found.read.append(FieldFilter(field, values if field.is_repeated else values[0]))


def as_sql(filters: Iterable[FieldFilter], given: Mapping[str, Any] | None = None) -> dict[str, Sql]:
    """The condition of each filter, by the name of its field. `given` are the values of parameters in the SQL of
    fields."""
    found: dict[str, Sql] = {}
    for number, each in enumerate(filters):
        condition = f"{each.field.source} = %(filter_{number})s::{each.field.type.sql}"
        found[each.field.name] = Sql(condition, {**(given or {}), f"filter_{number}": each.value})
    return found


Row = TypeVar("Row")
_Row_co = TypeVar("_Row_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Listed(Generic[Row]):
    """The rows of a page; `total` is the number of all, if it is requested, and `next_page` the token of the page that
    follows, where pages have tokens."""

    rows: Iterable[Row]
    total: int | None = None
    next_page: PageToken | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer about the page."""
        values = {"Total-Count": self.total, "Next-Page-Token": self.next_page}
        return {name: str(value) for name, value in values.items() if value is not None}


class _Countable(Protocol[_Row_co]):
    """A query set."""

    def count(self) -> int: ...
    def __getitem__(self, part: slice) -> Iterable[_Row_co]: ...


def listed(rows: _Countable[Row], page: Page) -> Listed[Row]:
    """The rows of a page by limit and offset."""
    return Listed(list(rows[page.offset : page.offset + page.size]), total_of(rows, page))


def total_of(rows: _Countable[Any], page: Page) -> int | None:
    """The number of all rows, if it is requested."""
    return rows.count() if page.wants_total else None


def without_nulls(members: dict[str, Any]) -> dict[str, Any]:
    """The members of an object that have a value."""
    return {name: value for name, value in members.items() if value is not None}


# Fields by name → members of the JSON object.
Represent = Callable[[dict[str, Any]], dict[str, Any]]

# `is_shown` is false for a row that only says that there are more.
_PAGE = """
SELECT {order} AS place, {is_shown} AS is_shown, {values}
{rows}
 ORDER BY place LIMIT %(size)s OFFSET %(offset)s
"""
_COUNT = Sql("SELECT count(*) {rows}")


@dataclass(frozen=True, slots=True)
class SqlRows:
    """The rows of tables, `FROM …`, that meet all conditions. `represent` makes the JSON object of one from the values
    of `fields`; `given` are the values of parameters in their SQL.

    They are in the order of `row`, the SQL of a number to which page tokens refer, or in that of `version`.
    """

    fields: Sequence[Field]
    represent: Represent
    tables: Sql | str
    conditions: Sequence[Sql]
    row: str = "1"
    version: str | None = None
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> str:
        return self.version or self.row

    def where(self, condition: Sql) -> Self:
        return replace(self, conditions=[*self.conditions, condition])

    def listed(self, page: Page, using: str) -> Listed[dict[str, Any]]:
        """The JSON objects of a page."""
        total = (
            run_with_retries(lambda: execute(_COUNT.fill(rows=self._matching()), using))[0][0]
            if page.wants_total
            else None
        )
        found = self._of(page).read(using, page.size, page.offset)
        is_by_row = bool(found) and self.version is None
        return Listed([each for _, each in found], total, page.next_token(found[-1][0]) if is_by_row else None)

    def read(self, using: str, size: int, offset: int = 0) -> list[tuple[int, dict[str, Any]]]:
        """The place of each row of a page in the order of the rows, and its JSON object."""
        found: list[tuple[Any, ...]] = []
        for statement in self.pages(size, offset):
            found = run_with_retries(partial(execute, statement, using))
            # An offset may have skipped the row that is not shown.
            if found[-1][1] if found else not (size and offset):
                break
        names = [each.name for each in self.fields]
        return [(place, self.represent(dict(zip(names, values, strict=True)))) for place, _, *values in found]

    def pages(self, size: int, offset: int) -> Iterator[Sql]:
        """The statements that may find a page, of which each reads more rows than the one before. If a page ends with a
        row that is not shown, there are rows that the statement has not read."""
        yield self._page(self._matching(), size, offset)

    def partition(self, number: int, using: str) -> list[int]:
        """The first rows of at most `number` parts of about equal size."""
        statement = partition_sql(self.row, self._matching(), number, smallest_part())
        return [row for (row,) in run_with_retries(lambda: execute(statement, using))]

    def _matching(self) -> Sql:
        return matching(self.tables, self.conditions)

    def _of(self, page: Page) -> Self:
        """The rows of the page token, if there is one."""
        if page.rows is None:
            return self
        token = {"first_row": page.rows.first, "last_row": page.rows.last}
        return self.where(Sql(f"{self.row} BETWEEN %(first_row)s::bigint AND %(last_row)s::bigint", token))

    def _page(self, rows: Sql, size: int, offset: int, *, order: str = "", is_shown: str = "true") -> Sql:
        values = Sql(", ".join(each.selected for each in self.fields), self.given)
        statement = Sql(_PAGE, {"size": size, "offset": offset})
        return statement.fill(values=values, rows=rows, order=order or self.order, is_shown=is_shown)


def matching(tables: Sql | str, conditions: Iterable[Sql]) -> Sql:
    """`FROM … WHERE …`"""
    return Sql("{tables} WHERE {condition}").fill(tables=tables, condition=all_of(conditions))
