"""Publishes changes to NATS JetStream. Needs requirements/nats.lock.

Subjects have the form `meadowlark.ed-fi.students.insert`, and `meadowlark.7.ed-fi.students.insert` in data stores. The
message id is the data store and the change version, so the broker drops changes that are sent again within its
duplicate window (two minutes).
"""

import asyncio
import logging
import time
from collections.abc import Coroutine, Sequence
from threading import Thread
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.back_off import BackOff
from edfi_api.features.changes.change_stream.exceptions import SinkFailed
from edfi_api.features.changes.change_stream.log import Event
from edfi_api.features.changes.change_stream.sinks.sink import message_id

try:
    import nats
    from nats import errors
    from nats.js.api import Header
    from nats.js.errors import NoStreamResponseError, NotFoundError, ServerError, ServiceUnavailableError
except ImportError as error:
    raise ImproperlyConfigured("the sink for NATS needs requirements/nats.lock") from error

_UNACKNOWLEDGED = 500
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 15.0
# The errors of a broker that is away, or that has begun without its streams. Anything else fails at once.
_OUTAGES = (
    OSError,
    TimeoutError,
    errors.ConnectionClosedError,
    errors.NoRespondersError,
    errors.NoServersError,
    errors.StaleConnectionError,
    errors.UnexpectedEOF,
    NoStreamResponseError,
    ServerError,
    ServiceUnavailableError,
)

log = logging.getLogger(__name__)


class Nats:
    """Publishes in order and waits for the broker's acknowledgement of each change. Tries again with growing pauses
    while the broker is away; fails after about four minutes, as webhooks do.

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
        outage_seconds: float = 240,
    ) -> None:
        """Create the stream if it does not exist; its retention is configured in the broker."""
        self._consumer, self._servers, self._stream, self._subject = consumer, list(servers), stream, subject
        self._timeout, self._longest_outage = timeout_seconds, outage_seconds
        self._client: Any = None
        self._loop = asyncio.new_event_loop()
        Thread(target=self._loop.run_forever, daemon=True).start()
        self._publish_with_retries(())

    def send(self, changes: Sequence[Event]) -> None:
        for start in range(0, len(changes), _UNACKNOWLEDGED):
            self._publish_with_retries(changes[start : start + _UNACKNOWLEDGED])

    def close(self) -> None:
        self._run(self._disconnect())
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _publish_with_retries(self, changes: Sequence[Event]) -> None:
        end = time.monotonic() + self._longest_outage
        back_off = BackOff(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        while True:
            try:
                return self._run(self._publish(changes))
            except (errors.Error, OSError, TimeoutError) as error:
                reason = f"NATS: {error or type(error).__name__}"
                self._run(self._disconnect())
                pause = back_off.pause()
                if not isinstance(error, _OUTAGES) or time.monotonic() + pause > end:
                    raise SinkFailed(reason) from error
            log.warning("%s; trying again in %.1f seconds", reason, pause)
            time.sleep(pause)

    def _run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def _publish(self, changes: Sequence[Event]) -> None:
        if self._client is None:
            await self._connect()
        broker = self._client.jetstream(timeout=self._timeout)
        await asyncio.gather(*(self._publish_one(change, broker) for change in changes))

    async def _publish_one(self, change: Event, broker: Any) -> None:
        store = "" if change.data_store is None else f"{change.data_store}."
        subject = f"{self._subject}.{store}{change.resource.replace('/', '.')}.{change.operation}"
        await broker.publish(subject, change.line(), headers={Header.MSG_ID.value: message_id(change)})

    async def _connect(self) -> None:
        """Connect and find the stream, or create it. The client's own attempts to connect again would end before the
        outages that are waited for."""
        self._client = await nats.connect(
            self._servers,
            name=f"meadowlark {self._consumer}",
            connect_timeout=self._timeout,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0.1,
            error_cb=_log_error,
        )
        broker = self._client.jetstream(timeout=self._timeout)
        try:
            await broker.stream_info(self._stream)
        except NotFoundError:
            await broker.add_stream(name=self._stream, subjects=[f"{self._subject}.>"])

    async def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


async def _log_error(error: Exception) -> None:
    log.warning("NATS: %s", error or type(error).__name__)
