"""Change handlers: functions that are marked by a decorator in the modules of the setting CHANGE_HANDLERS.

The decorator does not register anything globally, so the order of imports does not matter.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from edfi_api.changes.change_stream.changes import Change, Operation
from edfi_api.changes.change_stream.resources import resource_at
from edfi_api.model.surface.resource import Resource, Surface

Handle = Callable[[Change], object]

_MARK = "handled_changes"


@dataclass(frozen=True, slots=True)
class _Handled:
    path: str
    operations: frozenset[Operation]


def on_change(resource: str, *operations: str) -> Callable[[Handle], Handle]:
    """Call the function for these operations on documents of a resource: `insert`, `update`, `key_change`, `delete`; by
    default for all. The decorator may be applied several times.

    The function runs in the transaction that advances its position: its changes to this database are made exactly once,
    other effects at least once. It receives changes in order; functions do not wait for each other. If it raises, it is
    called again, and after several failures the change becomes a dead letter.
    """
    handled = _Handled(resource, frozenset(map(Operation, operations or Operation)))

    def mark(function: Handle) -> Handle:
        setattr(function, _MARK, (*getattr(function, _MARK, ()), handled))
        return function

    return mark


@dataclass(frozen=True, slots=True)
class Handler:
    """A marked function; its dotted name is also the name of its consumer."""

    name: str
    handle: Handle
    operations: frozenset[tuple[str, Operation]]
    resources: tuple[Resource, ...]

    def accepts(self, change: Change) -> bool:
        return (change.resource, change.operation) in self.operations


def handlers_in(modules: Iterable[str], surface: Surface) -> tuple[Handler, ...]:
    """The marked functions that these modules define. Raises UnknownResource for a path that is not a resource's."""
    functions = [each for name in modules for each in marked_functions(import_module(name), _MARK)]
    return tuple(_handler(function, surface) for function in functions)


def marked_functions(module: ModuleType, mark: str) -> list[Any]:
    """The functions with this attribute that the module defines, without imported ones."""
    return [each for each in vars(module).values() if hasattr(each, mark) and each.__module__ == module.__name__]


def _handler(function: Handle, surface: Surface) -> Handler:
    handled = [(resource_at(each.path, surface), each.operations) for each in getattr(function, _MARK)]
    return Handler(
        name=f"{function.__module__}.{function.__qualname__}",
        handle=function,
        operations=frozenset(
            (resource.url_path.removeprefix("/"), operation)
            for resource, operations in handled
            for operation in operations
        ),
        resources=tuple({resource.name: resource for resource, _ in handled}.values()),
    )
