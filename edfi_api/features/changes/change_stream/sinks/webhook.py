"""Sends changes by HTTP POST: batches of JSON lines, signed according to Standard Webhooks (standardwebhooks.com).

`webhook-id` consists of consumer and versions and is the same if a batch is sent again; `webhook-signature` is the HMAC
of id, time and body, with which the receiver verifies the sender and rejects replays.
"""

import base64
import hmac
import time
from collections.abc import Sequence

from django.core.exceptions import ImproperlyConfigured
from urllib3 import PoolManager, Retry, Timeout
from urllib3.exceptions import HTTPError

from edfi_api.features.changes.change_stream.exceptions import SinkFailed
from edfi_api.features.changes.change_stream.log import Event
from edfi_api.features.changes.change_stream.sinks.sink import message_id

_SECRET_PREFIX = "whsec_"  # noqa: S105  what a secret looks like
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})


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
        self._pool = PoolManager(
            retries=Retry(
                total=attempts,
                redirect=0,
                allowed_methods=None,
                status_forcelist=_WORTH_ANOTHER_TRY,
                raise_on_status=False,
                backoff_factor=0.5,
                backoff_max=60,
                backoff_jitter=0.5,
            ),
            timeout=Timeout(timeout_seconds),
        )

    def send(self, changes: Sequence[Event]) -> None:
        for start in range(0, len(changes), self._batch):
            self._post(changes[start : start + self._batch])

    def close(self) -> None:
        self._pool.clear()

    def _post(self, changes: Sequence[Event]) -> None:
        body = b"".join(change.line() for change in changes)
        name = f"{self._consumer}-{message_id(changes[0])}-{changes[-1].version}"
        headers = {"Content-Type": "application/x-ndjson", **signed(self._key, name, int(time.time()), body)}
        try:
            response = self._pool.request("POST", self._url, body=body, headers=headers)
        except HTTPError as error:
            raise SinkFailed(f"{self._url} cannot be reached: {error}") from error
        if not 200 <= response.status < 300:
            raise SinkFailed(f"{self._url} answered {response.status}")


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
