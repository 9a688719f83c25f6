"""Fix-up hooks: functions, marked by a decorator in the modules of the setting CHANGE_HANDLERS, that know what to send
first when the remote API has refused a document."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.features.exchange.functions_of_resources import FunctionsOfResources, marking

_MARK = "fixed_up_resources"
# Documents that one refusal may send first.
_MOST = 100


@dataclass(frozen=True, slots=True)
class RefusedDocument:
    """A document that was refused there: the path of its resource (`ed-fi/students`), its body, and the problem."""

    resource: str
    body: Mapping[str, Any]
    problem: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FirstDocument:
    """A body to send first, to the resource with this path."""

    resource: str
    body: Mapping[str, Any]


FixUpHook = Callable[[RefusedDocument], Iterable[FirstDocument] | None]


def fix_up_hook(resource: str) -> Callable[[FixUpHook], FixUpHook]:
    """Call the function for documents of a resource that the remote API has refused. If it returns documents, they are
    sent there, and the refused one once more. The decorator may be applied several times."""
    return marking(_MARK, resource)


# The name in version 1.0.0.
remedy = fix_up_hook


class FixUpHooks(FunctionsOfResources):
    """The fix-up hooks in these modules."""

    def __init__(self, modules: Iterable[str]) -> None:
        super().__init__(modules, _MARK)

    def first(self, refused: RefusedDocument) -> list[FirstDocument]:
        """Return what to send first. A function that fails is logged, and helps nothing."""
        return self.results(refused.resource, refused)[:_MOST]
