"""Pages of rows: some of the rows that a request selects, how many there are, and where the next page begins."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from edfi_api.core.queries.pagination import Page, PageToken

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


class Countable(Protocol[_Row_co]):
    """A query set."""

    def count(self) -> int: ...
    def __getitem__(self, part: slice) -> Iterable[_Row_co]: ...


def listed(rows: Countable[Row], page: Page) -> Listed[Row]:
    """The rows of a page by limit and offset."""
    return Listed(list(rows[page.offset : page.offset + page.size]), total_of(rows, page))


def total_of(rows: Countable[Any], page: Page) -> int | None:
    """The number of all rows, if it is requested."""
    return rows.count() if page.wants_total else None


def without_nulls(members: dict[str, Any]) -> dict[str, Any]:
    """The members of an object that have a value."""
    return {name: value for name, value in members.items() if value is not None}
