"""Limit, offset and totalCount. Source: http-api.md §9.1."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rest_framework.pagination import BasePagination
from rest_framework.request import Request

from edfi_api.conf import api_settings
from edfi_api.queries.exceptions import ParameterValidationFailed
from edfi_api.queries.parameters import last_values

# Beyond this PostgreSQL's OFFSET has no number any more.
_LARGEST_OFFSET = 2**63 - 1
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which part of a collection is asked for."""

    limit: int
    offset: int
    wants_total: bool

    @property
    def window(self) -> slice:
        return slice(self.offset, self.offset + self.limit)


class LimitOffsetPagination(BasePagination):
    """Reads the paging parameters; the viewset cuts the window and counts."""

    def read(self, request: Request) -> PageRequest:
        """The page that the query string asks for; ParameterValidationFailed names all that is wrong with it."""
        given = {name: value for name, (_, value) in last_values(request.query_params).items()}
        if messages := list(_problems(given)):
            raise ParameterValidationFailed(messages)
        return PageRequest(
            limit=int(given.get("limit", api_settings.DEFAULT_PAGE_SIZE)),
            offset=int(given.get("offset", 0)),
            wants_total=_BOOLEANS[given.get("totalcount", "false").lower()],
        )


def _problems(given: Mapping[str, str]) -> Iterator[str]:
    largest = api_settings.MAX_PAGE_SIZE
    if not _is_number(given.get("offset", "0"), _LARGEST_OFFSET - largest):
        yield "Offset must be a numeric value greater than or equal to 0."
    if not _is_number(given.get("limit", "0"), largest):
        yield f"Limit must be omitted or set to a numeric value between 0 and {largest}."
    if given.get("totalcount", "false").lower() not in _BOOLEANS:
        yield "TotalCount must be a boolean value."


def _is_number(text: str, largest: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= largest
