"""`run_handlers`: call the functions marked with `on_change` for every change, and wait for more.

Each handler has its own position; a new handler starts with all existing documents.
"""

from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from edfi_api.changes.change_stream.delivery import deliver_for_ever, deliver_once
from edfi_api.changes.change_stream.exceptions import ConsumerIsBusy, UnknownHandler
from edfi_api.changes.change_stream.handlers import Handler, handlers_in
from edfi_api.changes.change_stream.resources import UnknownResource
from edfi_api.changes.change_stream.rounds import for_ever, one_round
from edfi_api.conf import api_settings
from edfi_api.data_stores.routing import Store
from edfi_api.management.arguments import text
from edfi_api.management.data_store_command import DataStoreCommand
from edfi_api.startup import current_surface


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
            handlers = _handlers(options["handler"])
            with suppress(KeyboardInterrupt):
                if not options["once"]:
                    for_ever(choose, partial(deliver_once, handlers), self.stderr.write)
                elif failed := one_round(choose(), partial(deliver_once, handlers), self.stderr.write):
                    raise CommandError(f"failed for {len(failed)} data stores: {'; '.join(failed)}")
        except (UnknownHandler, UnknownResource, ModuleNotFoundError) as error:
            raise CommandError(str(error)) from error

    def handle(self, *, once: bool, handler: list[str] | None, database: str, **options: Any) -> None:
        deliver = deliver_once if once else deliver_for_ever
        try:
            with suppress(KeyboardInterrupt):
                deliver(_handlers(handler), database)
        except (ConsumerIsBusy, UnknownHandler, UnknownResource, ModuleNotFoundError) as error:
            raise CommandError(str(error)) from error


def _handlers(names: list[str] | None) -> list[Handler]:
    """The handlers with these names, or all. Raises UnknownHandler."""
    found = {handler.name: handler for handler in handlers_in(api_settings.CHANGE_HANDLERS, current_surface())}
    for name in names or ():
        if name not in found:
            raise UnknownHandler(name)
    if not found:
        raise CommandError("MEADOWLARK_CHANGE_HANDLERS names no module with handlers.")
    return [found[name] for name in names or found]
