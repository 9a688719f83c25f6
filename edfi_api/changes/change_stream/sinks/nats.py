"""Publishes changes to NATS JetStream. Needs requirements/nats.lock.

Subjects have the form `meadowlark.ed-fi.students.insert`, and `meadowlark.7.ed-fi.students.insert` in data stores. The
message id is the change version, behind the data store, so the broker drops changes that are sent again within its
duplicate window (two minutes).
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from threading import Thread
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from edfi_api.changes.change_stream.exceptions import SinkFailed
from edfi_api.changes.change_stream.sinks.sink import Event, message_id

try:
    import nats
    from nats.errors import Error
    from nats.js.api import Header
    from nats.js.errors import NotFoundError
except ImportError as error:
    raise ImproperlyConfigured("the sink for NATS needs requirements/nats.lock") from error

_UNACKNOWLEDGED = 500
_CONNECTION_ATTEMPTS = 3

log = logging.getLogger(__name__)


class Nats:
    """Publishes in order and waits for the broker's acknowledgement of each change.

    The client is asynchronous and must respond to the broker's pings, so its event loop runs in a thread of its own.
    """

    def __init__(
        self,
        consumer: str,
        servers: Sequence[str],
        *,
        stream: str = "MEADOWLARK",
        subject: str = "meadowlark",
        timeout_seconds: float = 30,
    ) -> None:
        """Creates the stream if it does not exist; its retention is configured in the broker."""
        self._subject = subject
        self._loop = asyncio.new_event_loop()
        Thread(target=self._loop.run_forever, daemon=True).start()
        self._client = self._wait_for(
            nats.connect(
                list(servers),
                name=f"meadowlark {consumer}",
                connect_timeout=timeout_seconds,
                max_reconnect_attempts=_CONNECTION_ATTEMPTS,
                reconnect_time_wait=1,
                error_cb=_log_error,
            )
        )
        self._broker = self._client.jetstream(timeout=timeout_seconds)
        self._wait_for(self._find_or_make(stream))

    def send(self, changes: Sequence[Event]) -> None:
        for start in range(0, len(changes), _UNACKNOWLEDGED):
            self._wait_for(self._publish(changes[start : start + _UNACKNOWLEDGED]))

    def close(self) -> None:
        self._wait_for(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _find_or_make(self, stream: str) -> None:
        try:
            await self._broker.stream_info(stream)
        except NotFoundError:
            await self._broker.add_stream(name=stream, subjects=[f"{self._subject}.>"])

    async def _publish(self, changes: Sequence[Event]) -> None:
        await asyncio.gather(*map(self._publish_one, changes))

    async def _publish_one(self, change: Event) -> None:
        store = "" if change.data_store is None else f"{change.data_store}."
        subject = f"{self._subject}.{store}{change.resource.replace('/', '.')}.{change.operation}"
        await self._broker.publish(subject, change.line(), headers={Header.MSG_ID.value: message_id(change)})

    def _wait_for(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
        except (Error, OSError, TimeoutError) as error:
            raise SinkFailed(f"NATS: {error or type(error).__name__}") from error


async def _log_error(error: Exception) -> None:
    log.warning("NATS: %s", error or type(error).__name__)
