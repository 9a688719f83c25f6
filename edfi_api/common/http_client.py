"""The HTTP client for other servers, which are not trusted: answers are bounded in size and time, and come from
permitted addresses only.

Redirects are not followed. `repeated` sends a request again while that may help.
"""

import io
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from urllib3 import BaseHTTPResponse, HTTPConnectionPool, HTTPSConnectionPool, PoolManager, ProxyManager, Retry, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, InvalidHeader

from edfi_api.common.back_off import BackOff
from edfi_api.common.logs.printable import printable
from edfi_api.version import VERSION

# The OpenAPI documents of large standards have ten megabytes.
MOST_BYTES = 32 * 2**20
# More of a refusal is not read: it has no reason then.
MOST_BYTES_OF_REFUSAL = 256 * 1024
WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})
_BLOCK = 256 * 1024
_FIRST_REFUSAL = 400
_LONGEST_REASON = 300


class HttpFailed(Exception):
    """There is no answer; the text says why, and can be shown to people."""


class Unreachable(HttpFailed):
    """The connection cannot be made, breaks or is silent for too long; the next attempt may succeed."""


class AnswerTooLarge(HttpFailed):
    """An answer has more bytes than are read."""

    def __init__(self, most: int) -> None:
        super().__init__(f"an answer has more than {most:,} bytes")


class AnswerTooSlow(HttpFailed):
    """An answer is not complete in time, however many of its bytes have arrived."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"an answer takes longer than {round(seconds, 1):g} s")


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers with names in lower case, and body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


# When the request of a thread has to be answered, by the monotonic clock.
_deadline = threading.local()


class _TimedReader(io.RawIOBase):
    """Reads from a socket until the deadline of the request: each read has a limit, and there may be many."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        self._raw, self._sock, self._until = raw, sock, _deadline.at
        self._longest = sock.gettimeout()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left if self._longest is None else min(left, self._longest))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _TimedResponse(HTTPResponse):
    """A response of the standard library, whose headers have no limit of time."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp = io.BufferedReader(_TimedReader(self.fp.detach(), sock))


class _TimedConnection(HTTPConnection):
    response_class = _TimedResponse


class _TimedSecureConnection(HTTPSConnection):
    response_class = _TimedResponse


class _TimedPool(HTTPConnectionPool):
    ConnectionCls = _TimedConnection


class _TimedSecurePool(HTTPSConnectionPool):
    ConnectionCls = _TimedSecureConnection


class HttpClient:
    """Keeps so many connections open to each host, and may be used by several threads. `seconds` is the limit of a
    whole answer, from the request to its last byte."""

    def __init__(
        self,
        *,
        seconds: float,
        seconds_to_connect: float = 10,
        seconds_without_bytes: float = 60,
        connections: int = 1,
        certificates: Path | None = None,
        proxy: str | None = None,
        check_address: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`certificates` is a file of certificate authorities in place of the system's; `check_address` raises for an
        address that may not be called."""
        self._seconds, self._check_address = seconds, check_address
        make: Callable[..., PoolManager] = ProxyManager if proxy else PoolManager
        self._pool = make(
            *([proxy] if proxy else []),
            num_pools=4,
            maxsize=connections,
            block=True,
            timeout=Timeout(connect=min(seconds, seconds_to_connect), read=min(seconds, seconds_without_bytes)),
            # Without a file, the context of the system is made with the first connection of https.
            ssl_context=ssl.create_default_context(cafile=certificates) if certificates else None,
        )
        self._pool.pool_classes_by_scheme = {"http": _TimedPool, "https": _TimedSecurePool}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._pool.clear()

    def request(
        self,
        method: str,
        address: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        most_bytes: int = MOST_BYTES,
    ) -> Answer:
        """Return the answer, whatever its status. Raises HttpFailed, and what `check_address` raises."""
        self._check_address(address)
        _deadline.at = deadline = time.monotonic() + self._seconds
        common = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"Meadowlark/{VERSION}"}
        try:
            response = self._pool.request(
                method,
                address,
                body=body,
                headers={**common, **(headers or {})},
                preload_content=False,
                redirect=False,
                retries=False,
            )
            read = _read(response, most_bytes)
        except (HTTPError, OSError, ValueError, HTTPException) as error:
            if time.monotonic() >= deadline:
                raise AnswerTooSlow(self._seconds) from None
            raise Unreachable(printable(f"{type(error).__name__}: {error}")[:_LONGEST_REASON]) from None
        return Answer(response.status, {name.lower(): value for name, value in response.headers.items()}, read)


def repeated(
    send: Callable[[], Answer], repetitions: int, back_off: BackOff, wait: Callable[[float], object] = time.sleep
) -> Answer:
    """Send a request, and so many times again while that may help: after an answer of WORTH_ANOTHER_TRY, a broken
    connection or silence. It is waited as long as Retry-After says, at least as `back_off`, at most its longest pause.

    Return the last answer, even if it is worth another try. Raises HttpFailed if the last attempt had none.
    """
    for _ in range(repetitions):
        pause = back_off.pause()
        try:
            answer = send()
        except Unreachable:
            pass
        else:
            if answer.status not in WORTH_ANOTHER_TRY:
                return answer
            pause = max(pause, min(_retry_after(answer), back_off.longest))
        wait(pause)
    return send()


def proxy_of(address: str) -> str | None:
    """The proxy for an address according to the usual environment variables."""
    parts = urlsplit(address)
    return None if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)


def _read(response: BaseHTTPResponse, most_bytes: int) -> bytes:
    """Return the body; an empty one for a refusal that is too large. Raises AnswerTooLarge."""
    is_refusal = response.status >= _FIRST_REFUSAL
    most = min(most_bytes, MOST_BYTES_OF_REFUSAL) if is_refusal else most_bytes
    parts, size, is_complete = [], 0, False
    try:
        while not is_complete and size <= most:
            part = response.read(_BLOCK, decode_content=True)
            parts.append(part)
            size += len(part)
            is_complete = not part
    finally:
        if not is_complete:
            response.close()
        # A closed one, too: without its place in the pool, later requests would wait for ever.
        response.release_conn()
    if is_complete:
        return b"".join(parts)
    if is_refusal:
        return b""
    raise AnswerTooLarge(most)


def _retry_after(answer: Answer) -> float:
    """The seconds to wait that the server asks for, as a number or as a date."""
    try:
        return Retry().parse_retry_after(answer.headers.get("retry-after", "0"))
    except (InvalidHeader, ValueError, OverflowError):
        return 0
