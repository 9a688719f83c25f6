"""`stream_changes --consumer NAME`: every insert, update, key change and delete as one line of JSON, in order.

Each change is sent at least once: the position of the consumer is stored in the database and advances after the sink
has accepted the changes. A new consumer starts with all existing documents.
"""

import time
from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from edfi_api.changes.change_stream.exceptions import ConsumerIsBusy, SinkFailed, UnknownSink
from edfi_api.changes.change_stream.resources import UnknownResource, resource_at
from edfi_api.changes.change_stream.rounds import for_ever, one_round
from edfi_api.changes.change_stream.sinks.sink import configured_sink
from edfi_api.changes.change_stream.streaming import Streamed, stream_for_ever, stream_once
from edfi_api.data_stores.routing import Store
from edfi_api.logs.printable import counted
from edfi_api.management.arguments import name, whole_number
from edfi_api.management.data_store_command import DataStoreCommand
from edfi_api.startup import current_surface
from edfi_api.validation.events import RESOURCE, stream_results

_LAST_VERSION = 2**63 - 1
# Only runs make events, some times a day.
_SECONDS_BETWEEN_LOOKS = 10


class Command(DataStoreCommand):
    """See the module."""

    in_one_process = True
    help = "Sends the changes of documents as lines of JSON to a sink, in order and at least once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--consumer", type=name, required=True, metavar="NAME", help="the name under which the position is stored"
        )
        parser.add_argument(
            "--from",
            dest="start",
            type=whole_number(0, _LAST_VERSION),
            metavar="VERSION",
            help="start after this change version",
        )
        parser.add_argument("--follow", action="store_true", help="wait for further changes")
        parser.add_argument(
            "--resource",
            action="append",
            default=[],
            metavar="PROJECT/ENDPOINT",
            help=f"only this resource; may be repeated. {RESOURCE}: results of validation",
        )
        parser.add_argument(
            "--sink", default="output", metavar="NAME", help="one of the setting CHANGE_SINKS (default output)"
        )

    def handle_all(self, choose: Callable[[], list[Store]], **options: Any) -> None:
        """Every data store has a position of the consumer."""
        if options["start"] is not None:
            raise CommandError("Change versions are those of one data store: --from needs a single --data-store.")
        try:
            resources = [resource_at(path, current_surface()) for path in options["resource"]]
            consumer = options["consumer"]
            with configured_sink(options["sink"], consumer) as to, suppress(KeyboardInterrupt):

                def stream(using: str) -> int:
                    return stream_once(Streamed(consumer, to, resources, using))

                if options["follow"]:
                    for_ever(choose, stream, self.stderr.write)
                elif failed := one_round(choose(), stream, self.stderr.write):
                    raise CommandError(f"failed for {len(failed)} data stores: {'; '.join(failed)}")
        except (SinkFailed, UnknownSink, UnknownResource, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error

    def handle(
        self, *, consumer: str, start: int | None, follow: bool, resource: list[str], sink: str, database: str, **_: Any
    ) -> None:
        if RESOURCE.lower() in (path.lower() for path in resource):
            self._stream_results(consumer, sink, database, start, follow=follow, alone=len(resource) == 1)
            return
        try:
            resources = [resource_at(path, current_surface()) for path in resource]
            with configured_sink(sink, consumer) as to, suppress(KeyboardInterrupt):
                streamed = Streamed(consumer, to, resources, database)
                if follow:
                    stream_for_ever(streamed, start)
                else:
                    self.stderr.write(f"{stream_once(streamed, start)} changes")
        except (ConsumerIsBusy, SinkFailed, UnknownSink, UnknownResource, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error

    def _stream_results(
        self, consumer: str, sink: str, database: str, start: int | None, *, follow: bool, alone: bool
    ) -> None:
        """Results of validation have versions, and so positions, of their own."""
        if not alone:
            raise CommandError(f"{RESOURCE} is streamed by itself.")
        try:
            with configured_sink(sink, consumer) as to, suppress(KeyboardInterrupt):
                self.stderr.write(counted(stream_results(consumer, to, database, start), "event"))
                while follow:
                    time.sleep(_SECONDS_BETWEEN_LOOKS)
                    stream_results(consumer, to, database)
        except (ConsumerIsBusy, SinkFailed, UnknownSink, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
