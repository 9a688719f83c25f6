"""`stream_changes --consumer NAME`: every insert, update, key change and delete as one line of JSON, in order.

Each change is sent at least once: the position of the consumer is stored in the database and advances after the sink
has accepted the changes. A new consumer starts with all existing documents.
"""

from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from edfi_api.common.commands import integer, name
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.data_stores.routing import Store
from edfi_api.features.changes.change_stream.delivery import (
    ToSink,
    deliver_for_ever,
    deliver_once,
    run_for_ever,
    run_once,
)
from edfi_api.features.changes.change_stream.exceptions import ChangeStreamError
from edfi_api.features.changes.change_stream.log import log_of, logs
from edfi_api.features.changes.change_stream.sinks.sink import configured_sink

_LAST_VERSION = 2**63 - 1


class Command(DataStoreCommand):
    """See the module."""

    error_texts = {ChangeStreamError: str, ImproperlyConfigured: str}
    in_one_process = True
    help = "Sends the changes of documents as lines of JSON to a sink, in order and at least once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--consumer", type=name, required=True, metavar="NAME", help="the name under which the position is stored"
        )
        parser.add_argument(
            "--from",
            dest="start",
            type=integer(0, _LAST_VERSION),
            metavar="VERSION",
            help="start after this change version",
        )
        parser.add_argument("--follow", action="store_true", help="wait for further changes")
        parser.add_argument(
            "--resource",
            action="append",
            default=[],
            metavar="PROJECT/ENDPOINT",
            help=". ".join(["only this resource; may be repeated", *_other_logs()]),
        )
        parser.add_argument(
            "--sink", default="output", metavar="NAME", help="one of the setting CHANGE_SINKS (default output)"
        )

    def handle_all(self, choose: Callable[[], list[Store]], **options: Any) -> None:
        """Every data store has a position of the consumer."""
        if options["start"] is not None:
            raise CommandError("Change versions are those of one data store: --from needs a single --data-store.")
        source, consumer = log_of(options["resource"]), options["consumer"]
        resources = source.resources(options["resource"])
        with configured_sink(options["sink"], consumer) as to, suppress(KeyboardInterrupt):

            def stream(using: str) -> int:
                return deliver_once([ToSink(consumer, source, to, resources, using=using)], using)

            if options["follow"]:
                run_for_ever(choose, stream, self.stderr.write)
            elif failed := run_once(choose(), stream, self.stderr.write):
                raise CommandError(f"failed for {len(failed)} data stores: {'; '.join(failed)}")

    def handle(
        self, *, consumer: str, start: int | None, follow: bool, resource: list[str], sink: str, database: str, **_: Any
    ) -> None:
        source = log_of(resource)
        resources = source.resources(resource)
        with configured_sink(sink, consumer) as to, suppress(KeyboardInterrupt):
            stream = [ToSink(consumer, source, to, resources, using=database, start=start)]
            if follow:
                deliver_for_ever(stream, database)
            else:
                self.stderr.write(counted(deliver_once(stream, database), "change"))


def _other_logs() -> list[str]:
    return [f"{log.resource}: {log.verbose_name}" for log in logs() if log.resource]
