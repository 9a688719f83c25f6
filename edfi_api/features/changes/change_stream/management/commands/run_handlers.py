"""`run_handlers`: call the functions marked with `on_change` and the like for every event, and wait for more.

Each handler has its own position; a new handler starts with all existing documents.
"""

from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import text
from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.data_stores.routing import Store
from edfi_api.features.changes.change_stream.delivery import (
    ToHandler,
    deliver_for_ever,
    deliver_once,
    run_for_ever,
    run_once,
)
from edfi_api.features.changes.change_stream.exceptions import ChangeStreamError, UnknownHandler
from edfi_api.features.changes.change_stream.handlers import Handler, handlers_in


class Command(DataStoreCommand):
    """See the module."""

    error_texts = {ChangeStreamError: str, ModuleNotFoundError: str}
    in_one_process = True
    help = "Calls the change handlers in the modules of MEADOWLARK_CHANGE_HANDLERS, and waits for further changes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="exit once all current changes are delivered")
        parser.add_argument(
            "--handler", type=text, action="append", metavar="NAME", help="only this handler; may be repeated"
        )

    def handle_all(self, choose: Callable[[], list[Store]], **options: Any) -> None:
        """Every data store has a position of each handler."""
        handlers = _named(options["handler"])

        def deliver(using: str) -> int:
            return deliver_once([ToHandler(each, using) for each in handlers], using)

        with suppress(KeyboardInterrupt):
            if not options["once"]:
                run_for_ever(choose, deliver, self.stderr.write)
            elif failed := run_once(choose(), deliver, self.stderr.write):
                raise CommandError(f"failed for {len(failed)} data stores: {'; '.join(failed)}")

    def handle(self, *, once: bool, handler: list[str] | None, database: str, **options: Any) -> None:
        deliveries = [ToHandler(each, database) for each in _named(handler)]
        with suppress(KeyboardInterrupt):
            deliver = deliver_once if once else deliver_for_ever
            deliver(deliveries, database)


def _named(names: list[str] | None) -> list[Handler]:
    """The handlers with these names, or all. Raises UnknownHandler."""
    handlers = handlers_in(api_settings.CHANGE_HANDLERS)
    if not handlers:
        raise CommandError("MEADOWLARK_CHANGE_HANDLERS names no module with handlers.")
    known = {each.name for each in handlers}
    for name in names or ():
        if name not in known:
            raise UnknownHandler(name)
    return [each for each in handlers if each.name in (names or known)]
