"""The base of the views of validation: pages of JSON that the database writes."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from edfi_api.addresses import root_of
from edfi_api.api.viewsets.authorized_view import AuthorizedView
from edfi_api.api.viewsets.document_id import document_uuid
from edfi_api.api.viewsets.edfi_view import EdFiRequest
from edfi_api.api.viewsets.responses import JsonTextResponse
from edfi_api.model.surface.resource import Surface
from edfi_api.problem_details.http_exceptions import ResourceNotFound
from edfi_api.profiles.catalog import ProfileCatalogs
from edfi_api.queries.collection import partition_sql
from edfi_api.queries.pagination import Page
from edfi_api.queries.partitions import smallest_part
from edfi_api.storage.driver.execution import execute, with_retries
from edfi_api.storage.driver.sql import Sql, all_of

NAMESPACE = "uri://edfixvalidation.org"
ENGINE = "Meadowlark"
_PAGE = "SELECT {item}::text, {order} AS place {rows} ORDER BY place LIMIT %(size)s OFFSET %(offset)s"
_COUNT = Sql("SELECT count(*) {rows}")


def moment(column: str) -> str:
    """The SQL of a time as text, in UTC."""
    return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""


def json_object(*members: str) -> str:
    """The SQL of a JSON object with these members, `'name', value, …`, without those that are NULL."""
    return f"json_strip_nulls(json_build_object({', '.join(members)}))"


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of tables, `FROM …`, that meet all conditions, and the JSON of each.

    They are in the order of `row`, the SQL of a number to which page tokens refer, or in that of `version`.
    """

    item: Sql
    tables: Sql | str
    conditions: Sequence[Sql]
    row: str = "1"
    version: str | None = None

    @property
    def order(self) -> str:
        return self.version or self.row

    def where(self, condition: Sql) -> Self:
        return replace(self, conditions=[*self.conditions, condition])

    def of(self, page: Page) -> Self:
        """The rows of the page token, if there is one."""
        if page.rows is None:
            return self
        token = {"first_row": page.rows.first, "last_row": page.rows.last}
        return self.where(Sql(f"{self.row} BETWEEN %(first_row)s::bigint AND %(last_row)s::bigint", token))

    def pages(self, size: int, offset: int) -> Iterator[Sql]:
        """The statements that may find a page, of which each reads more rows than the one before. If a page ends with a
        row without JSON, there are rows that the statement has not read."""
        yield self._page(self.tables, self._all_conditions, self.order, size, offset)

    def count(self) -> Sql:
        return _COUNT.fill(rows=_matching(self.tables, self._all_conditions))

    def partition(self, number: int) -> Sql:
        """The statement for the first rows of at most `number` parts of about equal size."""
        return partition_sql(self.row, _matching(self.tables, self._all_conditions), number, smallest_part())

    @property
    def _all_conditions(self) -> Sequence[Sql]:
        return self.conditions

    def _page(self, tables: Sql | str, conditions: Iterable[Sql], order: str, size: int, offset: int) -> Sql:
        statement = Sql(_PAGE, {"size": size, "offset": offset})
        return statement.fill(item=self.item, rows=_matching(tables, conditions), order=order)


def _matching(tables: Sql | str, conditions: Iterable[Sql]) -> Sql:
    return Sql("{tables} WHERE {condition}").fill(tables=tables, condition=all_of(conditions))


class ValidationView(AuthorizedView):
    """Authorizes by the claim of `resource`; `action` is the name of what is requested."""

    # DRF's `as_view` accepts only attributes that the class has; the routes set these.
    surface: Surface = None  # type: ignore[assignment]
    profiles: ProfileCatalogs = None  # type: ignore[assignment]

    def page(self, page: Page, rows: Rows) -> HttpResponse:
        """A page of the rows, their number if it is requested, and the token of the next page."""
        headers = {"Total-Count": str(self.rows(rows.count())[0][0])} if page.wants_total else {}
        found = self.found(rows.of(page), page.size, page.offset)
        if found and rows.version is None:
            headers["Next-Page-Token"] = str(page.next_token(found[-1][1]))
        return JsonTextResponse(f"[{','.join(text for text, _ in found)}]".encode(), headers)

    def item(self, rows: Rows) -> HttpResponse:
        """The only row; raises ResourceNotFound without it."""
        for text, _ in self.found(rows, 1):
            return JsonTextResponse(text.encode())
        raise ResourceNotFound

    def found(self, rows: Rows, size: int, offset: int = 0) -> list[tuple[str, int]]:
        """The JSON of each row of a page, and its place in the order of the rows."""
        found: list[tuple[Any, ...]] = []
        for statement in rows.pages(size, offset):
            found = self.rows(statement)
            # An offset may have skipped the row without JSON.
            if found[-1][0] is not None if found else not (size and offset):
                break
        return found

    def rows(self, statement: Sql) -> list[tuple[Any, ...]]:
        return with_retries(lambda: execute(statement, self.using))

    def host(self, request: EdFiRequest) -> str:
        """The public URL of the server."""
        return root_of(request._request)


class CollectionView(ValidationView):
    """A collection; subclasses select its rows. `parameters` are the lower-cased names of those of its parameters that
    are neither filters nor for paging."""

    action = "list"
    parameters: Collection[str] = ()

    def get(self, request: EdFiRequest, **kwargs: Any) -> HttpResponseBase:
        page = self.paginator.read(request)
        return self.page(page, self.selected(request))

    def selected(self, request: EdFiRequest) -> Rows:
        """The rows that the filters of the request select and that the client may see. Raises what `authorize` does,
        and what is wrong with the filters."""
        raise NotImplementedError


def id_of(column: str, item_id: str) -> Sql:
    """The condition that a row has the id of a path. Raises InvalidDocumentId."""
    uuid: UUID = document_uuid(item_id)
    return Sql(f"{column} = %(item_id)s::uuid", {"item_id": uuid})
