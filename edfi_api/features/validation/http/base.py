"""The base of the views of validation: pages and items of rows."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse
from django.http.response import HttpResponseBase

from edfi_api.common.addresses import root_of
from edfi_api.core.queries.listing import SqlRows
from edfi_api.core.queries.pagination import Page
from edfi_api.core.security.profiles.catalog import ProfileCatalogs
from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.model.surface.resource import Surface
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound
from edfi_api.web.viewsets.edfi_view import AuthorizedView, EdFiRequest
from edfi_api.web.viewsets.requests import document_uuid
from edfi_api.web.viewsets.responses import JsonTextResponse

NAMESPACE = "uri://edfixvalidation.org"
ENGINE = "Meadowlark"


class ValidationView(AuthorizedView):
    """Authorizes by the claim of `resource`; `action` is the name of what is requested."""

    # DRF's `as_view` accepts only attributes that the class has; the routes set these.
    surface: Surface = None  # type: ignore[assignment]
    profiles: ProfileCatalogs = None  # type: ignore[assignment]

    def page(self, page: Page, rows: SqlRows) -> HttpResponse:
        """A page of the rows, their number if it is requested, and the token of the next page."""
        found = rows.listed(page, self.using)
        return JsonTextResponse(orjson.dumps(found.rows), found.headers)

    def item(self, rows: SqlRows) -> HttpResponse:
        """The only row; raises ResourceNotFound without it."""
        for _, members in rows.read(self.using, 1):
            return JsonTextResponse(orjson.dumps(members))
        raise ResourceNotFound

    def rows(self, statement: Sql) -> list[tuple[Any, ...]]:
        return run_with_retries(lambda: execute(statement, self.using))

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

    def selected(self, request: EdFiRequest) -> SqlRows:
        """The rows that the filters of the request select and that the client may see. Raises what `authorize` does,
        and what is wrong with the filters."""
        raise NotImplementedError


def id_of(column: str, item_id: str) -> Sql:
    """The condition that a row has the id of a path. Raises InvalidDocumentId."""
    uuid: UUID = document_uuid(item_id)
    return Sql(f"{column} = %(item_id)s::uuid", {"item_id": uuid})
