"""Paging parameters: limit and offset, or a page token (cursor paging).

The cost of a page by token does not depend on its position in the collection, since it starts at a row instead of
counting up to it. See meadowlark/docs/reference/contract.md#paging.

A page token is `min,max` of document row ids, inclusive, in base64url: the range that cursor paging has still to read,
opaque to clients. It does not contain the filters of its request; the client repeats them. See
meadowlark/docs/reference/contract.md#paging.
"""

import binascii
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rest_framework.pagination import BasePagination
from rest_framework.request import Request

from edfi_api.common.conf import api_settings
from edfi_api.core.queries import collection
from edfi_api.core.queries.exceptions import InvalidQueryValue, InvalidQueryValues, ParameterValidationFailed
from edfi_api.core.queries.parameters import PAGING_PARAMETERS, is_natural_number, last_values
from edfi_api.core.queries.selection import LAST_ROW, ORDER_PARAMETER, Order, Selection
from edfi_api.core.storage.stored import StoredDocument

_BOOLEANS = {"true": True, "false": False}

_NUMBERS = {"limit": "Limit", "offset": "Offset", "pagesize": "PageSize"}
_LONGEST_NUMBER = 10

_CONTENT = re.compile(rb"(\d{1,19}),(\d{1,19})")

NUMBER_PARAMETER = "number"
DEFAULT_NUMBER, LARGEST_NUMBER = 10, 200
# With smaller partitions a client would need more requests instead of fewer.
_PAGES_IN_A_PART = 5


@dataclass(frozen=True, slots=True)
class PageToken:
    """The rows from `first` to `last`."""

    first: int
    last: int = LAST_ROW

    def __str__(self) -> str:
        return urlsafe_b64encode(f"{self.first},{self.last}".encode()).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str) -> "PageToken | None":
        """The token, or None if the text is not a valid one."""
        try:
            content = _CONTENT.fullmatch(urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
        except (binascii.Error, ValueError):
            return None
        if content is None or max(int(content[1]), int(content[2])) > LAST_ROW:
            return None
        return cls(int(content[1]), int(content[2]))


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


class OdsPagination(EdFiPagination):
    """The paging of the ODS/API."""

    def read(self, request: Request) -> Page:
        """The requested page. Raises InvalidQueryValues and ParameterValidationFailed."""
        given = _typed(request.query_params)
        if "pagetoken" in given or "pagesize" in given:
            # Some clients add it to every request.
            return page_by_token({name: value for name, value in given.items() if (name, value) != ("limit", "0")})
        _check(given, f"Limit must be a value between 0 and {api_settings.MAX_PAGE_SIZE}.", least=0)
        return page_by_offset(given)

    def read_offset(self, request: Request) -> Page:
        """The requested page of deletes or key changes. Raises what `read` does."""
        given = _typed(request.query_params)
        message = f"Limit must be omitted or set to a value between 1 and {api_settings.MAX_PAGE_SIZE}."
        _check(given, message, least=1)
        return page_by_offset(given)

    def read_number(self, request: Request) -> int:
        """The requested number of partitions. Raises what `read` does."""
        name, value = last_values(request.query_params).get("number", ("number", "1"))
        if not _is_integer(value):
            raise InvalidQueryValues([InvalidQueryValue(f"$.{name}", "", value)])
        return super().read_number(request)


def _typed(query: Mapping[str, str]) -> dict[str, str]:
    """The parameters by their names in lower case. Raises InvalidQueryValues for values of another type."""
    given = {name: value for name, (_, value) in last_values(query).items()}
    given = {name: value for name, value in given.items() if value or name not in _NUMBERS}
    invalid = [
        InvalidQueryValue(f"$.{shown}", shown, given[name])
        for name, shown in _NUMBERS.items()
        if name in given and not _is_integer(given[name])
    ]
    if given.get("totalcount", "true").lower() not in ("true", "false"):
        invalid.append(InvalidQueryValue("$.TotalCount", "TotalCount", given["totalcount"]))
    if invalid:
        raise InvalidQueryValues(invalid)
    return given


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER


def _check(given: Mapping[str, str], limit_message: str, least: int) -> None:
    messages = []
    if not least <= int(given.get("limit", least)) <= api_settings.MAX_PAGE_SIZE:
        messages.append(limit_message)
    if int(given.get("offset", 0)) < 0:
        messages.append("Offset cannot be a negative value.")
    if messages:
        raise ParameterValidationFailed(messages)


def read_number(query: Mapping[str, str]) -> int:
    """The requested number of partitions. Raises ParameterValidationFailed, also for paging parameters."""
    given = last_values(query)
    messages = [
        f"The '{name}' parameter is not supported by the partitions endpoint."
        for key, (name, _) in given.items()
        if key in PAGING_PARAMETERS or key == ORDER_PARAMETER
    ]
    number = given.get(NUMBER_PARAMETER, ("", str(DEFAULT_NUMBER)))[1]
    if not is_natural_number(number, LARGEST_NUMBER) or int(number) == 0:
        messages.insert(0, f"Number of partitions must be between 1 and {LARGEST_NUMBER}.")
    if messages:
        raise ParameterValidationFailed(messages)
    return int(number)


def partition(documents: Selection, number: int) -> list[PageToken]:
    """Return at most `number` tokens that together cover exactly these documents."""
    return tokens_from(collection.partition(documents, number, smallest_part()))


def smallest_part() -> int:
    """Return how many rows a part has at least, but for the last."""
    return _PAGES_IN_A_PART * int(api_settings.MAX_PAGE_SIZE)


def tokens_from(firsts: Sequence[int]) -> list[PageToken]:
    """The tokens of parts that begin with these rows."""
    lasts = [*(first - 1 for first in firsts[1:]), LAST_ROW]
    return [PageToken(first, last) for first, last in zip(firsts, lasts, strict=False)]
