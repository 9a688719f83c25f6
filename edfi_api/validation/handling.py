"""Functions that are called for results of validation: those marked by `on_validation` in the modules of the setting
CHANGE_HANDLERS. `run_handlers` calls them."""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module

from django.db import transaction

from edfi_api.changes.change_stream.exceptions import ConsumerIsBusy
from edfi_api.changes.change_stream.following import retry_on_outage
from edfi_api.changes.change_stream.handlers import marked_functions

from .events import Position, ResultEvent

log = logging.getLogger(__name__)

Handle = Callable[[ResultEvent], object]

_MARK = "handled_results"
_SECONDS_BETWEEN_LOOKS = 10.0


@dataclass(frozen=True, slots=True)
class _Handled:
    rule: str
    severity: str


def on_validation(*, rule: str = "", severity: str = "") -> Callable[[Handle], Handle]:
    """Call the function for each result that appears, changes or is resolved; with `rule` or `severity`, for those of
    this rule or severity only.

    The function runs in the transaction that advances its position: its changes to this database are made exactly once,
    other effects at least once. It receives results in order. If it raises, it is called again after some seconds, and
    later results wait.
    """

    def mark(function: Handle) -> Handle:
        setattr(function, _MARK, _Handled(rule, severity))
        return function

    return mark


@dataclass(frozen=True, slots=True)
class ResultHandler:
    """A marked function; its dotted name is also the name of its consumer. Empty texts stand for all."""

    name: str
    handle: Handle
    rule: str
    severity: str

    def accepts(self, event: ResultEvent) -> bool:
        return self.rule in ("", event.rule_identifier) and self.severity in ("", event.severity)


def result_handlers_in(modules: Iterable[str]) -> tuple[ResultHandler, ...]:
    """The marked functions that these modules define."""
    functions = [each for name in modules for each in marked_functions(import_module(name), _MARK)]
    return tuple(
        ResultHandler(f"{each.__module__}.{each.__qualname__}", each, handled.rule, handled.severity)
        for each in functions
        for handled in [getattr(each, _MARK)]
    )


def deliver_results_once(handlers: Iterable[ResultHandler], using: str) -> bool:
    """Deliver all current events; whether every handler got all of its own. One that fails does not keep the others
    from theirs. Raises ConsumerIsBusy."""
    delivered = [_deliver(handler, using) for handler in handlers]
    return all(delivered)


def deliver_results_for_ever(handlers: Iterable[ResultHandler], using: str) -> None:
    """Deliver current and future events."""
    waiting = list(handlers)

    def run() -> None:
        while True:
            try:
                deliver_results_once(waiting, using)
            except ConsumerIsBusy as busy:
                log.warning("%s", busy)
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    retry_on_outage(run, using)


def _deliver(handler: ResultHandler, using: str) -> bool:
    with Position(handler.name, using) as position:
        while events := position.next_events():
            for event in events:
                try:
                    with transaction.atomic(using):
                        if handler.accepts(event):
                            handler.handle(event)
                        position.move_to(event.version)
                except Exception:
                    if not position.is_usable():
                        raise
                    log.exception("%s failed", handler.name)
                    return False
    return True
