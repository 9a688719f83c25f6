"""Handlers: functions that are marked by a decorator in the modules of the setting CHANGE_HANDLERS."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from edfi_api.common.rule_files import marked_functions
from edfi_api.features.changes.change_stream.documents import Change, DocumentLog, Operation
from edfi_api.features.changes.change_stream.log import Event, Log, logs
from edfi_api.model.surface.resource import Resource

_MARK = "handled_events"


@dataclass(frozen=True, slots=True)
class Handled:
    """Events of the log of this name that `accepts` is true of; only of the resources, if it names any."""

    log: str
    accepts: Callable[[Any], bool]
    resources: tuple[str, ...] = ()


def on_change(resource: str, *operations: str) -> Callable[[Callable[[Change], object]], Callable[[Change], object]]:
    """Call the function for these operations on documents of a resource: `insert`, `update`, `key_change`, `delete`; by
    default for all. The decorator may be applied several times.

    The function runs in the transaction that advances its position: its changes to this database are made exactly once,
    other effects at least once. It receives changes in order; functions do not wait for each other. If it raises, it is
    called again, and after several failures the change becomes a dead letter.
    """
    wanted, path = frozenset(map(Operation, operations or Operation)), resource.lower()

    def accepts(change: Change) -> bool:
        return change.operation in wanted and change.resource.lower() == path

    return called_for(Handled(DocumentLog.name, accepts, (resource,)))


def called_for(handled: Handled) -> Callable[[Callable[[Any], object]], Callable[[Any], object]]:
    """Mark a function as a handler of these events."""

    def mark(function: Callable[[Any], object]) -> Callable[[Any], object]:
        setattr(function, _MARK, (*getattr(function, _MARK, ()), handled))
        return function

    return mark


@dataclass(frozen=True, slots=True)
class Handler:
    """A marked function, and the log that it handles; its dotted name is also the name of its consumer."""

    name: str
    handle: Callable[[Event], object]
    log: Log
    handled: tuple[Handled, ...]
    resources: Collection[Resource]

    def accepts(self, event: Event) -> bool:
        return any(each.accepts(event) for each in self.handled)


def handlers_in(modules: Iterable[str]) -> tuple[Handler, ...]:
    """The marked functions that these modules define, without imported ones. Raises UnknownResource for a path that is
    not a resource's."""
    functions = [function for name in modules for function in marked_functions(import_module(name), _MARK)]
    return tuple(handler for log in logs() for function in functions for handler in _handlers(function, log))


def _handlers(function: Callable[[Event], object], log: Log) -> Iterable[Handler]:
    """Return the handlers of a function, none if the function handles no events of the log."""
    handled = tuple(each for each in getattr(function, _MARK) if each.log == log.name)
    if handled:
        resources = log.resources([path for each in handled for path in each.resources])
        yield Handler(f"{function.__module__}.{function.__qualname__}", function, log, handled, resources)
