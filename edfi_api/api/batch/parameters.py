"""Query string → how a batch is executed. All unusable values are reported together."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from edfi_api.conf import api_settings
from edfi_api.queries.exceptions import ParameterValidationFailed, UnknownQueryField
from edfi_api.queries.parameters import last_values


class Mode(StrEnum):
    """Whether a refused operation undoes all others."""

    ATOMIC = "atomic"
    INDEPENDENT = "independent"


class Order(StrEnum):
    """Whether operations are executed one after the other, or in an order in which they can be written."""

    GIVEN = "given"
    FREE = "free"


class Return(StrEnum):
    """Which results are answered."""

    ALL = "all"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a batch."""

    mode: Mode = Mode.ATOMIC
    order: Order = Order.GIVEN
    returned: Return = Return.ALL

    @property
    def is_atomic(self) -> bool:
        return self.mode is Mode.ATOMIC


@dataclass(slots=True)
class BatchLimits:
    """When a batch ends, by the monotonic clock, and how many bytes the operations may cost that are carried out
    together."""

    end: float
    memory: int


_CHOICES: Mapping[str, type[Mode] | type[Order] | type[Return]] = {"mode": Mode, "order": Order, "return": Return}


def read(query: Mapping[str, str]) -> Parameters:
    """Raises UnknownQueryField for the first unknown name, ParameterValidationFailed for all unusable values."""
    given = last_values(query)
    for name, (sent_as, _) in given.items():
        if name not in _CHOICES and not api_settings.IGNORE_UNKNOWN_PARAMETERS:
            raise UnknownQueryField(sent_as)
    values = {name: given[name][1].lower() for name in _CHOICES if name in given}
    problems = [
        f"{name.capitalize()} must be one of: {', '.join(_CHOICES[name])}."
        for name, value in values.items()
        if value not in list(_CHOICES[name])
    ]
    if problems:
        raise ParameterValidationFailed(problems)
    return Parameters(
        Mode(values.get("mode", Mode.ATOMIC)),
        Order(values.get("order", Order.GIVEN)),
        Return(values.get("return", Return.ALL)),
    )
