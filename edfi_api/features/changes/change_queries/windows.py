"""minChangeVersion and maxChangeVersion: query string → window, and the DRF filter backend for it. See
meadowlark/docs/reference/contract.md#change-queries."""

from collections.abc import Mapping
from typing import Any

from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request

from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.queries.exceptions import InvalidQueryValue, InvalidQueryValues, ParameterValidationFailed
from edfi_api.core.queries.parameters import is_natural_number, last_values
from edfi_api.core.queries.selection import LAST_VERSION, Order, Selection, Window


class ChangeVersionFilter(BaseFilterBackend):
    """Narrows a selection to documents whose current version is in the requested window.

    Pages by limit and offset of a window with an upper bound are in version order
    (meadowlark/docs/reference/contract.md#paging).
    """

    def filter_queryset(self, request: Request, queryset: Selection, view: Any) -> Selection:  # type: ignore[override]
        window = read_window(request.query_params)
        documents = queryset.within(window)
        if window.is_bounded and "pagetoken" not in last_values(request.query_params):
            return documents.ordered_by(Order.CHANGE_VERSION)
        return documents


def read_window(query: Mapping[str, str]) -> Window:
    """The requested window. Who has read to a version and begins the next window one above it gets an empty one while
    nothing has changed.

    Raises ParameterValidationFailed; InvalidQueryValues for what the ODS/API cannot read.
    """
    given = {name: value.strip() for name, (_, value) in last_values(query).items()}
    first, last = given.get("minchangeversion") or "0", given.get("maxchangeversion") or str(LAST_VERSION)
    if (first != "0" or last != str(LAST_VERSION)) and OdsCompatibility.PARAMETER_TYPES.applies:
        first, last = _version("MinChangeVersion", first), _version("MaxChangeVersion", last)
    messages = [
        f"{name} must be a numeric value greater than or equal to 0."
        for name, text in (("MinChangeVersion", first), ("MaxChangeVersion", last))
        if not is_natural_number(text, LAST_VERSION)
    ]
    if not messages and int(first) > int(last) + 1 and not OdsCompatibility.EMPTY_WINDOWS.applies:
        messages = ["MinChangeVersion must be less than or equal to MaxChangeVersion."]
    if messages:
        raise ParameterValidationFailed(messages)
    return Window(int(first), int(last))


def _version(name: str, text: str) -> str:
    """A change version of the ODS/API; one below 0 is before all others."""
    digits = text.removeprefix("-")
    if not is_natural_number(digits, LAST_VERSION):
        raise InvalidQueryValues([InvalidQueryValue(f"$.{name}", name, text)])
    return digits if digits == text else "0"
