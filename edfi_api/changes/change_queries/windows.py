"""Parses minChangeVersion and maxChangeVersion. See meadowlark/docs/reference/contract.md#change-queries."""

from collections.abc import Mapping

from edfi_api.queries.exceptions import ParameterValidationFailed
from edfi_api.queries.parameters import is_natural_number, last_values
from edfi_api.queries.selection import LAST_VERSION, Window


def read_window(query: Mapping[str, str]) -> Window:
    """The requested window. Raises ParameterValidationFailed."""
    given = {name: value.strip() for name, (_, value) in last_values(query).items()}
    first, last = given.get("minchangeversion") or "0", given.get("maxchangeversion") or str(LAST_VERSION)
    messages = [
        f"{name} must be a numeric value greater than or equal to 0."
        for name, text in (("MinChangeVersion", first), ("MaxChangeVersion", last))
        if not is_natural_number(text, LAST_VERSION)
    ]
    if not messages and int(first) > int(last):
        messages = ["MinChangeVersion must be less than or equal to MaxChangeVersion."]
    if messages:
        raise ParameterValidationFailed(messages)
    return Window(int(first), int(last))
