"""`run_handlers`: call the functions marked with `on_change` for every change, and wait for more.

Each handler has its own position; a new handler starts with all existing documents.
"""

from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any

from django.core.management.base import CommandError

from edfi_api.changes.change_stream.delivery import deliver_for_ever, deliver_once
from edfi_api.changes.change_stream.exceptions import ConsumerIsBusy, ResultHandlerFailed, UnknownHandler
from edfi_api.changes.change_stream.handlers import Handler, handlers_in
from edfi_api.changes.change_stream.resources import UnknownResource
from edfi_api.changes.change_stream.rounds import for_ever, one_round
from edfi_api.conf import api_settings
from edfi_api.data_stores.routing import Store
from edfi_api.management.arguments import text
from edfi_api.management.data_store_command import DataStoreCommand
from edfi_api.startup import current_surface
from edfi_api.validation.handling import (
    ResultHandler,
    deliver_results_for_ever,
    deliver_results_once,
    result_handlers_in,
)


class Command(DataStoreCommand):
    """See the module."""

    in_one_process = True
    help = "Calls the change handlers in the modules of MEADOWLARK_CHANGE_HANDLERS, and waits for further changes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="exit once all current changes are delivered")
        parser.add_argument(
            "--handler", type=text, action="append", metavar="NAME", help="only this handler; may be repeated"
        )

    def handle_all(self, choose: Callable[[], list[Store]], **options: Any) -> None:
        """Every data store has a position of each handler."""
        try:
            handlers = _Handlers.named(options["handler"])
            with suppress(KeyboardInterrupt):
                if not options["once"]:
                    for_ever(choose, handlers.deliver_once, self.stderr.write)
                elif failed := one_round(choose(), handlers.deliver_once, self.stderr.write):
                    raise CommandError(f"failed for {len(failed)} data stores: {'; '.join(failed)}")
        except (UnknownHandler, UnknownResource, ModuleNotFoundError) as error:
            raise CommandError(str(error)) from error

    def handle(self, *, once: bool, handler: list[str] | None, database: str, **options: Any) -> None:
        try:
            handlers = _Handlers.named(handler)
            with suppress(KeyboardInterrupt):
                deliver = handlers.deliver_once if once else handlers.deliver_for_ever
                deliver(database)
        except (ConsumerIsBusy, ResultHandlerFailed, UnknownHandler, UnknownResource, ModuleNotFoundError) as error:
            raise CommandError(str(error)) from error


@dataclass(frozen=True, slots=True)
class _Handlers:
    """Handlers of changes of documents, and of results of validation."""

    of_changes: list[Handler]
    of_results: list[ResultHandler]

    @classmethod
    def named(cls, names: list[str] | None) -> "_Handlers":
        """The handlers with these names, or all. Raises UnknownHandler."""
        modules = api_settings.CHANGE_HANDLERS
        of_changes = {each.name: each for each in handlers_in(modules, current_surface())}
        of_results = {each.name: each for each in result_handlers_in(modules)}
        if not of_changes and not of_results:
            raise CommandError("MEADOWLARK_CHANGE_HANDLERS names no module with handlers.")
        for name in names or ():
            if name not in of_changes and name not in of_results:
                raise UnknownHandler(name)
        chosen = names or [*of_changes, *of_results]
        return cls(
            [of_changes[name] for name in chosen if name in of_changes],
            [of_results[name] for name in chosen if name in of_results],
        )

    def deliver_once(self, using: str) -> None:
        """Raises ResultHandlerFailed, when all others were called; a change that is refused too often is a dead
        letter."""
        if self.of_changes:
            deliver_once(self.of_changes, using)
        if not deliver_results_once(self.of_results, using):
            raise ResultHandlerFailed

    def deliver_for_ever(self, using: str) -> None:
        """Results wait for no change, nor changes for a result."""
        if not self.of_changes:
            return deliver_results_for_ever(self.of_results, using)
        if self.of_results:
            Thread(target=deliver_results_for_ever, args=(self.of_results, using), daemon=True).start()
        return deliver_for_ever(self.of_changes, using)
