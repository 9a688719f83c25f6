"""Functions of the host for documents of some resources, marked by a decorator with the paths of these."""

import logging
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, TypeVar

from edfi_api.common.rule_files import marked_functions

_log = logging.getLogger(__name__)

Function = TypeVar("Function", bound=Callable[..., Any])


def marking(mark: str, resource: str) -> Callable[[Function], Function]:
    """Return a decorator that marks a function for the resource with this path. It may be applied several times."""

    def set_mark(function: Function) -> Function:
        setattr(function, mark, (*getattr(function, mark, ()), resource.strip("/").lower()))
        return function

    return set_mark


class FunctionsOfResources:
    """The functions with a mark in some modules."""

    def __init__(self, modules: Iterable[str], mark: str) -> None:
        self._functions: dict[str, list[Callable[..., Any]]] = {}
        for name in modules:
            for function in marked_functions(import_module(name), mark):
                for resource in getattr(function, mark):
                    self._functions.setdefault(resource, []).append(function)

    def has(self, resource: str) -> bool:
        return resource.lower() in self._functions

    def results(self, resource: str, argument: Any) -> list[Any]:
        """Call the functions of a resource; return all that they return. One that fails is logged and adds nothing."""
        found: list[Any] = []
        for function in self._functions.get(resource.lower(), ()):
            try:
                found += function(argument) or ()
            except Exception:  # Of whatever kind: the document is refused, as it would be without the function.
                _log.exception("%s failed", function.__qualname__)
        return found
