"""Pages of rows: how many a request selects, where the next page begins; and rows of SQL statements as JSON objects."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, Protocol, Self, TypeVar

from edfi_api.core.queries.collection import partition_sql
from edfi_api.core.queries.listing.fields import Field
from edfi_api.core.queries.pagination import Page, PageToken, smallest_part
from edfi_api.core.storage.driver.execution import execute, with_retries
from edfi_api.core.storage.driver.sql import Sql, all_of

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
        """What the headers of the answer say about the page."""
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
            with_retries(lambda: execute(_COUNT.fill(rows=self._matching()), using))[0][0] if page.wants_total else None
        )
        found = self._of(page).read(using, page.size, page.offset)
        is_by_row = bool(found) and self.version is None
        return Listed([each for _, each in found], total, page.next_token(found[-1][0]) if is_by_row else None)

    def read(self, using: str, size: int, offset: int = 0) -> list[tuple[int, dict[str, Any]]]:
        """The place of each row of a page in the order of the rows, and its JSON object."""
        found: list[tuple[Any, ...]] = []
        for statement in self.pages(size, offset):
            found = with_retries(partial(execute, statement, using))
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
        return [row for (row,) in with_retries(lambda: execute(statement, using))]

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
