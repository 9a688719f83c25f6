"""Functions that correct refused documents: marked by a decorator in the modules of the setting CHANGE_HANDLERS, they
say what to write in place of a document of the source that is refused here, and what before it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.features.exchange.functions_of_resources import FunctionsOfResources, marking

_MARK = "corrected_resources"
# Documents that one refusal may lead to.
_MOST = 100


@dataclass(frozen=True, slots=True)
class RefusedHere:
    """A refused document: the path of its resource (`ed-fi/students`), its body, and the problem that a client would
    have been answered."""

    resource: str
    body: Mapping[str, Any]
    problem: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Before:
    """A body to write before the refused document, to the resource with this path."""

    resource: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Instead:
    """The body to write in place of the refused one."""

    body: Mapping[str, Any]


Correction = Callable[[RefusedHere], Iterable[Before | Instead] | None]


def corrects(resource: str) -> Callable[[Correction], Correction]:
    """Call the function for documents of a resource that are refused here. What it returns is written, and the refused
    document once more, corrected if there is an `Instead`. The decorator may be applied several times."""
    return marking(_MARK, resource)


class Corrections(FunctionsOfResources):
    """The functions that correct, in these modules."""

    def __init__(self, modules: Iterable[str]) -> None:
        super().__init__(modules, _MARK)

    def of(self, refused: RefusedHere) -> list[Before | Instead]:
        """Return what to write. A function that fails is logged, and corrects nothing."""
        return self.results(refused.resource, refused)[:_MOST]
