"""The base of the views of validation: pages of JSON that the database writes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpResponse

from edfi_api.addresses import root_of
from edfi_api.api.viewsets.authorized_view import AuthorizedView
from edfi_api.api.viewsets.document_id import document_uuid
from edfi_api.api.viewsets.edfi_view import EdFiRequest
from edfi_api.api.viewsets.responses import JsonTextResponse
from edfi_api.model.surface.resource import Surface
from edfi_api.problem_details.http_exceptions import ResourceNotFound
from edfi_api.profiles.catalog import ProfileCatalogs
from edfi_api.queries.pagination import Page
from edfi_api.storage.driver.execution import execute, with_retries
from edfi_api.storage.driver.sql import Sql, all_of

NAMESPACE = "uri://edfixvalidation.org"
ENGINE = "Meadowlark"
_PAGE = "SELECT {item}::text {rows} WHERE {condition} ORDER BY {order} LIMIT %(size)s OFFSET %(offset)s"
_COUNT = "SELECT count(*) {rows} WHERE {condition}"


def moment(column: str) -> str:
    """The SQL of a time as text, in UTC."""
    return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""


def json_object(*members: str) -> str:
    """The SQL of a JSON object with these members, `'name', value, …`, without those that are NULL."""
    return f"json_strip_nulls(json_build_object({', '.join(members)}))"


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of tables, `FROM …`, that meet all conditions, and the JSON of each."""

    item: Sql
    tables: Sql | str
    conditions: Sequence[Sql]
    order: str = "1"

    def pages(self, size: int, offset: int) -> Iterator[Sql]:
        """The statements that may find a page. The first that fills it does, otherwise the last."""
        yield self._page(self.tables, self.conditions, self.order, size, offset)

    def count(self) -> Sql:
        return self._count(self.conditions)

    def _page(self, tables: Sql | str, conditions: Iterable[Sql], order: str, size: int, offset: int) -> Sql:
        statement = Sql(_PAGE, {"size": size, "offset": offset})
        return statement.fill(item=self.item, rows=tables, condition=all_of(conditions), order=order)

    def _count(self, conditions: Iterable[Sql]) -> Sql:
        return Sql(_COUNT).fill(rows=self.tables, condition=all_of(conditions))


class ValidationView(AuthorizedView):
    """Authorizes by the claim of `resource`; `action` is the name of what is requested."""

    # DRF's `as_view` accepts only attributes that the class has; the routes set these.
    surface: Surface = None  # type: ignore[assignment]
    profiles: ProfileCatalogs = None  # type: ignore[assignment]

    def page(self, page: Page, rows: Rows) -> HttpResponse:
        """A page of the rows, and their number if it is requested."""
        headers = {"Total-Count": str(self.rows(rows.count())[0][0])} if page.wants_total else {}
        return JsonTextResponse(f"[{','.join(self.texts(rows, page.size, page.offset))}]".encode(), headers)

    def item(self, rows: Rows) -> HttpResponse:
        """The only row; raises ResourceNotFound without it."""
        for text in self.texts(rows, 1):
            return JsonTextResponse(text.encode())
        raise ResourceNotFound

    def texts(self, rows: Rows, size: int, offset: int = 0) -> list[str]:
        """The JSON of each row of a page."""
        found: list[str] = []
        for statement in rows.pages(size, offset):
            found = [text for (text,) in self.rows(statement)]
            if len(found) == size:
                break
        return found

    def rows(self, statement: Sql) -> list[tuple[Any, ...]]:
        return with_retries(lambda: execute(statement, self.using))

    def host(self, request: EdFiRequest) -> str:
        """The public URL of the server."""
        return root_of(request._request)


def id_of(column: str, item_id: str) -> Sql:
    """The condition that a row has the id of a path. Raises InvalidDocumentId."""
    uuid: UUID = document_uuid(item_id)
    return Sql(f"{column} = %(item_id)s::uuid", {"item_id": uuid})
