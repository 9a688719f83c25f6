"""Remedies: functions, marked by a decorator in the modules of the setting CHANGE_HANDLERS, that know what to send
first when the other side has refused a document."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from edfi_api.marked import marked_functions

_log = logging.getLogger(__name__)
_MARK = "remedied_resources"
# Documents that one refusal may send first.
_MOST = 100


@dataclass(frozen=True, slots=True)
class RefusedDocument:
    """What was refused there: the path of its resource (`ed-fi/students`), its body, and the problem that was
    answered."""

    resource: str
    body: Mapping[str, Any]
    problem: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FirstDocument:
    """A body to send first, to the resource with this path."""

    resource: str
    body: Mapping[str, Any]


Remedy = Callable[[RefusedDocument], Iterable[FirstDocument] | None]


def remedy(resource: str) -> Callable[[Remedy], Remedy]:
    """Call the function for documents of a resource that the other side has refused. If it returns documents, they are
    sent there, and the refused one once more. The decorator may be applied several times."""

    def mark(function: Remedy) -> Remedy:
        setattr(function, _MARK, (*getattr(function, _MARK, ()), resource.strip("/").lower()))
        return function

    return mark


class Remedies:
    """Those in these modules."""

    def __init__(self, modules: Iterable[str]) -> None:
        self._functions: dict[str, list[Remedy]] = {}
        for name in modules:
            for function in marked_functions(import_module(name), _MARK):
                for resource in getattr(function, _MARK):
                    self._functions.setdefault(resource, []).append(function)

    def first(self, refused: RefusedDocument) -> list[FirstDocument]:
        """What to send first. A function that fails is logged, and helps nothing."""
        found: list[FirstDocument] = []
        for function in self._functions.get(refused.resource.lower(), ()):
            try:
                found += function(refused) or ()
            except Exception:  # Of whatever kind: the document is refused, as it would be without the function.
                _log.exception("%s failed", function.__qualname__)
        return found[:_MOST]
