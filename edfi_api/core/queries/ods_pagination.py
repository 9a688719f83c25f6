"""Paging parameters as the ODS/API reads them: a `limit` without a value is none, and what is no number is a violation
of its type."""

from collections.abc import Mapping

from rest_framework.request import Request

from edfi_api.common.conf import api_settings
from edfi_api.core.queries.exceptions import InvalidQueryValue, InvalidQueryValues, ParameterValidationFailed
from edfi_api.core.queries.pagination import EdFiPagination, Page, page_by_offset, page_by_token
from edfi_api.core.queries.parameters import last_values

_NUMBERS = {"limit": "Limit", "offset": "Offset", "pagesize": "PageSize"}
_LONGEST_NUMBER = 10


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
