"""Sends changes by HTTP POST: batches of JSON lines, signed according to Standard Webhooks (standardwebhooks.com).

`webhook-id` consists of consumer and versions and is the same if a batch is sent again; `webhook-signature` is the HMAC
of id, time and body, with which the receiver verifies the sender and rejects replays.
"""

import base64
import hmac
import time
from collections.abc import Sequence

from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.back_off import BackOff
from edfi_api.common.http_client import HttpClient, HttpFailed, repeated
from edfi_api.features.changes.change_stream.exceptions import SinkFailed
from edfi_api.features.changes.change_stream.log import Event
from edfi_api.features.changes.change_stream.sinks.sink import message_id

_SECRET_PREFIX = "whsec_"  # noqa: S105  what a secret looks like
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0
_SECONDS_OF_ANSWER = 300


class Webhook:
    """Retries with exponential backoff, or as Retry-After says; fails after about four minutes."""

    def __init__(
        self, consumer: str, url: str, secret: str, *, batch: int = 500, attempts: int = 10, timeout_seconds: float = 30
    ) -> None:
        """`secret` is text, or base64 with the prefix `whsec_`."""
        if not url or not secret:
            raise ImproperlyConfigured("a webhook needs MEADOWLARK_WEBHOOK_URL and MEADOWLARK_WEBHOOK_SECRET")
        self._consumer, self._url, self._batch = consumer, url, batch
        self._key = _key(secret)
        self._attempts = attempts
        self._client = HttpClient(
            seconds=_SECONDS_OF_ANSWER, seconds_to_connect=timeout_seconds, seconds_without_bytes=timeout_seconds
        )

    def send(self, changes: Sequence[Event]) -> None:
        for start in range(0, len(changes), self._batch):
            self._post(changes[start : start + self._batch])

    def close(self) -> None:
        self._client.close()

    def _post(self, changes: Sequence[Event]) -> None:
        body = b"".join(change.line() for change in changes)
        name = f"{self._consumer}-{message_id(changes[0])}-{changes[-1].version}"
        headers = {"Content-Type": "application/x-ndjson", **signed(self._key, name, int(time.time()), body)}
        try:
            answer = repeated(
                lambda: self._client.request("POST", self._url, body, headers),
                self._attempts,
                BackOff(_FIRST_PAUSE, _LONGEST_PAUSE),
            )
        except HttpFailed as error:
            raise SinkFailed(f"{self._url} cannot be reached: {error}") from error
        if not answer.is_success:
            raise SinkFailed(f"{self._url} answered {answer.status}")


def signed(key: bytes, name: str, seconds: int, body: bytes) -> dict[str, str]:
    """The Standard Webhooks headers of a message."""
    digest = hmac.digest(key, b"%s.%d.%s" % (name.encode(), seconds, body), "sha256")
    return {
        "webhook-id": name,
        "webhook-timestamp": str(seconds),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def _key(secret: str) -> bytes:
    if secret.startswith(_SECRET_PREFIX):
        return base64.b64decode(secret.removeprefix(_SECRET_PREFIX))
    return secret.encode()
