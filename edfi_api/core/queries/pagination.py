"""Paging parameters: limit and offset, or a page token (cursor paging).

The cost of a page by token does not depend on its position in the collection, since it starts at a row instead of
counting up to it. See meadowlark/docs/reference/contract.md#paging.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rest_framework.pagination import BasePagination
from rest_framework.request import Request

from edfi_api.common.conf import api_settings
from edfi_api.core.queries.exceptions import ParameterValidationFailed
from edfi_api.core.queries.ordering import ORDER_PARAMETER
from edfi_api.core.queries.page_tokens import PageToken
from edfi_api.core.queries.parameters import is_natural_number, last_values
from edfi_api.core.queries.partitions import partition, read_number
from edfi_api.core.queries.selection import LAST_ROW, Order, Selection
from edfi_api.core.storage.stored import StoredDocument

_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Page:
    """A page of at most `size` documents within `rows`, after skipping `offset`."""

    size: int
    offset: int = 0
    wants_total: bool = False
    rows: PageToken | None = None

    def rows_of(self, documents: Selection) -> Selection:
        """The selection restricted to the rows of the page token, if there is one."""
        return documents if self.rows is None else documents.between(self.rows.first, self.rows.last)

    def next_token(self, last_row: int) -> PageToken:
        """The token of the page that follows the last row of this one."""
        return PageToken(last_row + 1, self.rows.last if self.rows else LAST_ROW)

    def token_behind(self, last: StoredDocument, documents: Selection) -> str | None:
        """The token of the page that follows the last document of this one; None in version order, which has none."""
        if documents.order_by is not None:
            return documents.order_by.next_token(last)
        return str(self.next_token(last.row)) if documents.order is Order.ROW else None


class EdFiPagination(BasePagination):
    """Parses the paging parameters; the viewset runs the queries."""

    def read(self, request: Request) -> Page:
        """The requested page. Raises ParameterValidationFailed."""
        given = {name: value for name, (_, value) in last_values(request.query_params).items()}
        return page_by_token(given) if "pagetoken" in given or "pagesize" in given else page_by_offset(given)

    def read_offset(self, request: Request) -> Page:
        """The requested page of an endpoint without cursor paging. Raises ParameterValidationFailed."""
        return page_by_offset({name: value for name, (_, value) in last_values(request.query_params).items()})

    def read_number(self, request: Request) -> int:
        """The requested number of partitions. Raises ParameterValidationFailed."""
        return read_number(request.query_params)

    def partition(self, documents: Selection, number: int) -> list[str]:
        """The page token of each partition; at most `number`."""
        return [str(token) for token in partition(documents, number)]


def page_by_offset(given: Mapping[str, str]) -> Page:
    """The page by limit and offset. Raises ParameterValidationFailed."""
    if messages := list(_offset_problems(given)):
        raise ParameterValidationFailed(messages)
    return Page(
        size=int(given.get("limit", api_settings.DEFAULT_PAGE_SIZE)),
        offset=int(given.get("offset", 0)),
        wants_total=_BOOLEANS[given.get("totalcount", "false").lower()],
    )


def _offset_problems(given: Mapping[str, str]) -> Iterator[str]:
    largest = api_settings.MAX_PAGE_SIZE
    if not is_natural_number(given.get("offset", "0"), LAST_ROW - largest):
        yield "Offset must be a numeric value greater than or equal to 0."
    if not is_natural_number(given.get("limit", "0"), largest):
        yield f"Limit must be omitted or set to a numeric value between 0 and {largest}."
    if given.get("totalcount", "false").lower() not in _BOOLEANS:
        yield "TotalCount must be a boolean value."


def page_by_token(given: Mapping[str, str]) -> Page:
    """The page by token. Raises ParameterValidationFailed."""
    # Tokens of a client's order are read with it.
    token = None if ORDER_PARAMETER in given else PageToken.parse(given.get("pagetoken", ""))
    if message := next(_token_problems(given, token), None):
        raise ParameterValidationFailed([message])
    return Page(size=int(given.get("pagesize", api_settings.MAX_PAGE_SIZE)), rows=token)


def _token_problems(given: Mapping[str, str], token: PageToken | None) -> Iterator[str]:
    """Yield what is wrong, in the order in which Ed-Fi's server checks; that server reports only the first."""
    largest, total = api_settings.MAX_PAGE_SIZE, given.get("totalcount", "false").lower()
    if "pagetoken" not in given:
        if "offset" in given and "limit" not in given:
            yield "Use limit instead of pageSize when using limit/offset paging."
        yield "PageToken is required when pageSize is specified."
    if token is None and ORDER_PARAMETER not in given:
        yield "The page token provided was invalid."
    if "offset" in given:
        yield (
            "Both offset and pageToken parameters were provided, but they support alternative paging approaches and "
            "cannot be used together."
        )
    if "limit" in given:
        yield "Use pageSize instead of limit when using cursor paging with pageToken."
    if total == "true":
        yield "The totalCount parameter cannot be set to true when using cursor paging with pageToken."
    if not is_natural_number(given.get("pagesize", "0"), largest):
        yield f"PageSize must be a value between 0 and {largest}."
    if total not in _BOOLEANS:
        yield "TotalCount must be a boolean value."
