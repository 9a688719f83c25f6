"""Functions that mend: marked by a decorator in the modules of the setting CHANGE_HANDLERS, they say what to write in
place of a document of the source that is refused here, and what before it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.features.exchange.functions_of_resources import FunctionsOfResources, marking

_MARK = "mended_resources"
# Documents that one refusal may lead to.
_MOST = 100


@dataclass(frozen=True, slots=True)
class RefusedHere:
    """What was refused: the path of its resource (`ed-fi/students`), its body, and the problem that a client would have
    been answered."""

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


Mend = Callable[[RefusedHere], Iterable[Before | Instead] | None]


def mends(resource: str) -> Callable[[Mend], Mend]:
    """Call the function for documents of a resource that are refused here. What it returns is written, and the refused
    document once more, mended if there is an `Instead`. The decorator may be applied several times."""
    return marking(_MARK, resource)


class Mends(FunctionsOfResources):
    """The mends in these modules."""

    def __init__(self, modules: Iterable[str]) -> None:
        super().__init__(modules, _MARK)

    def of(self, refused: RefusedHere) -> list[Before | Instead]:
        """Return what to write. A function that fails is logged, and fixes nothing."""
        return self.results(refused.resource, refused)[:_MOST]
