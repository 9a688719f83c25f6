"""Another Ed-Fi API as one client of it: tokens, discovery, and requests that are repeated while that may help.

The remote API is not trusted. Addresses lead to the hosts of the connection only, answers are bounded in size and time,
redirects are followed on the same host. What can pass is repeated with doubled pauses: 408, 429 (as Retry-After says),
5xx, timeouts and broken connections; a token is renewed before it ends and after a 401. Every other answer is the
caller's. Methods may be called by several threads.
"""

from __future__ import annotations

import base64
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import orjson

from edfi_api.common.back_off import BackOff
from edfi_api.common.http_client import (
    MOST_BYTES,
    MOST_BYTES_OF_REFUSAL,
    WORTH_ANOTHER_TRY,
    Answer,
    AnswerTooLarge,
    HttpClient,
    HttpFailed,
    repeated,
)
from edfi_api.common.logs.printable import printable
from edfi_api.core.documents import json_text
from edfi_api.core.documents.exceptions import MalformedJson
from edfi_api.core.documents.json_text import bounded_decimal
from edfi_api.features.exchange.models import AddressRefused, Connection, checked_address, origin

# The OpenAPI documents of large standards have half a million values.
_MOST_VALUES = 1_000_000
_MOST_BYTES_OF_TOKEN = 64 * 1024
_SECONDS_OF_ANSWER = 300.0
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 60.0
MOST_REPETITIONS = 10
_MOST_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Part of the life of a token after which it is renewed.
_SHARE_OF_TOKEN = 0.8
_SECONDS_OF_TOKEN = 1800
_LONGEST_TOKEN_SECONDS = 7 * 86_400
_LONGEST_ID = 100
_LONGEST_NAME, _MOST_MODELS = 100, 100
_PLACEHOLDER_OF_YEAR = re.compile(r"\{[^{}]*year[^{}]*\}", re.IGNORECASE)
_CORRELATION = ("correlation-id", "x-correlation-id", "x-request-id")


@dataclass
class RemoteFailed(Exception):
    """The remote API does not answer, or not as an Ed-Fi API; worth another try later. `reason` is for people."""

    reason: str

    def __str__(self) -> str:
        return self.reason


class RemoteStopped(RemoteFailed):
    """The process ends, so nothing is waited for any longer."""


@dataclass
class RemoteRefused(RemoteFailed):
    """An answer with another status than the one that is needed."""

    status: int = 0


class NotJson(RemoteFailed):
    """The body of an answer is not JSON, or has values that no document has."""


class RemoteTooLarge(RemoteFailed):
    """An answer has more bytes or values than are read; one to a request for less may be small enough."""


@dataclass(frozen=True, slots=True)
class Trust:
    """The servers to which connections are made: `ca` is a file of authorities in place of the system's."""

    ca: Path | None = None
    allows_plain_http: bool = False


@dataclass(frozen=True, slots=True)
class RemoteAnswer(Answer):
    """An answer of the remote API. `correlation_id` is that of the remote API, if it has one."""

    @property
    def correlation_id(self) -> str:
        return next((self.headers[name] for name in _CORRELATION if name in self.headers), "")

    def json(self, most_values: int = _MOST_VALUES) -> Any:
        """Return the JSON with every digit of numbers. Raises RemoteFailed, and RemoteTooLarge for more than so many
        values.
        """
        body = self.body
        if body.count(b",") + body.count(b"[") + body.count(b"{") > most_values:
            raise RemoteTooLarge(f"an answer has more than {most_values:,} values")
        try:
            return json_text.with_every_digit(body, orjson.loads(body), bounded_decimal)
        except (ValueError, RecursionError, MalformedJson):
            raise NotJson(f"the answer is not JSON{_of(self.correlation_id)}") from None

    def problem(self) -> str:
        """Return what a refusal says, for people."""
        found = self.refusal()
        said = [found.get(name) for name in ("detail", "message", "error")]
        return printable(next((each for each in said if isinstance(each, str)), ""))[:500]

    def refusal(self) -> dict[str, Any]:
        """The problem of a refusal; empty if it has none."""
        try:
            found = orjson.loads(self.body[: MOST_BYTES_OF_REFUSAL + 1])
        except orjson.JSONDecodeError:
            return {}
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Discovery:
    """The description that the remote API gives of itself. Addresses end with a slash where paths follow them; `batch`
    and `change_queries` are empty if it has none."""

    version: str
    informational_version: str
    data_models: Mapping[str, str]
    token: str
    introspection: str
    data: str
    dependencies: str
    specifications: str
    change_queries: str
    batch: str


@dataclass(slots=True)
class _Token:
    text: str = ""
    # The time by the monotonic clock.
    renew_at: float = 0.0


@dataclass(slots=True)
class RequestFigures:
    """Figures about requests, for reports."""

    requests: int = 0
    repeated: int = 0
    tokens: int = 0


class _Pace:
    """Requests of all threads, no more than so many in a second; None is any number."""

    def __init__(self, per_second: int | None) -> None:
        self._seconds_between = 1 / per_second if per_second else 0.0
        self._lock = threading.Lock()
        self._next_at = 0.0

    def pause(self) -> float:
        """Return how many seconds to wait before the next request."""
        if not self._seconds_between:
            return 0.0
        with self._lock:
            now = time.monotonic()
            at = max(self._next_at, now)
            self._next_at = at + self._seconds_between
            return at - now


class RemoteApi:
    """The remote API of a connection. `connections` are kept open at once; `stop` ends waiting; `repetitions` of a
    request are made at most."""

    def __init__(
        self,
        connection: Connection,
        trust: Trust,
        connections: int = 4,
        stop: threading.Event | None = None,
        *,
        repetitions: int = MOST_REPETITIONS,
    ) -> None:
        """Raises ConnectionUnusable if the secret cannot be decrypted, and RemoteFailed for its address."""
        self._connection = connection
        self._secret = connection.plain_secret()
        self._trust = trust
        self._stop = stop or threading.Event()
        self._repetitions = repetitions
        self._pace = _Pace(connection.requests_per_second)
        self._token = _Token()
        self._token_lock = threading.Lock()
        self._discovery: Discovery | None = None
        self.figures = RequestFigures()
        self._base = self._checked(connection.address)
        self._hosts = {self._base[1]}
        if connection.token_address:
            self._hosts.add(self._checked(connection.token_address)[1])
        self._client = HttpClient(
            seconds=_SECONDS_OF_ANSWER,
            connections=connections,
            certificates=trust.ca,
            check_address=self._check_host,
        )

    def close(self) -> None:
        self._client.close()

    @property
    def discovery(self) -> Discovery:
        """Read once. Raises RemoteFailed."""
        if self._discovery is None:
            self._discovery = self._read_discovery()
        return self._discovery

    def get(
        self,
        address: str,
        parameters: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        most: int = MOST_BYTES,
    ) -> RemoteAnswer:
        """The answer, with a token. Raises RemoteFailed if there is none after the last attempt, and RemoteTooLarge."""
        address = f"{address}?{urlencode(parameters)}" if parameters else address
        return self.request("GET", address, headers=headers, most=most)

    def get_json(self, address: str, headers: Mapping[str, str] | None = None) -> Any:
        """The JSON of a 200. Raises RemoteFailed, of which RemoteRefused is one."""
        return expect(self.get(address, headers=headers), address).json()

    def request(
        self,
        method: str,
        address: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        most: int = MOST_BYTES,
    ) -> RemoteAnswer:
        """Send a request as `get` does, with any method; `body` is JSON. Repeating it has to be harmless, as it is in
        an Ed-Fi API.
        """
        token = self._current_token()
        answer = self._repeated(method, address, body, self._headers(token, body, headers), most)
        if answer.status == 401:
            token = self._current_token(token)
            answer = self._repeated(method, address, body, self._headers(token, body, headers), most)
        return answer

    def introspection(self) -> Any:
        """Return what the remote API says about the token; None if it does not."""
        address = self.discovery.introspection
        if not address:
            return None
        token = self._current_token()
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = self._repeated("POST", address, urlencode({"token": token}).encode(), self._headers(token, None, form))
        return answer.json() if answer.is_success else None

    def data_address(self, path: str) -> str:
        """The address of a resource, such as ed-fi/students, or of what is below it."""
        return self.discovery.data + path.strip("/")

    def wait(self, seconds: float) -> None:
        """Raises RemoteStopped if the process ends in the meantime."""
        if self._stop.wait(seconds):
            raise RemoteStopped("stopped")

    def _headers(self, token: str, body: bytes | None, headers: Mapping[str, str] | None) -> dict[str, str]:
        of_body = {} if body is None else {"Content-Type": "application/json"}
        return {"Authorization": f"Bearer {token}", **of_body, **(headers or {})}

    def _read_discovery(self) -> Discovery:
        address = self._connection.address
        answer = self._repeated("GET", address, None, {})
        found = expect(answer, address).json()
        urls = found.get("urls") if isinstance(found, dict) else None
        if not isinstance(urls, dict):
            raise RemoteFailed("the address does not have the discovery document of an Ed-Fi API")
        data = self._url(urls, "dataManagementApi", with_year=True)
        if not data:
            raise RemoteFailed("its discovery names no dataManagementApi")
        models = found.get("dataModels")
        return Discovery(
            version=_short(found.get("version")),
            informational_version=_short(found.get("informationalVersion")),
            data_models={
                _short(each["name"]): _short(each.get("version"))
                for each in (models if isinstance(models, list) else [])[:_MOST_MODELS]
                if isinstance(each, dict) and "name" in each
            },
            token=self._connection.token_address or self._url(urls, "oauth"),
            introspection=self._url(urls, "oauthTokenIntrospection") or self._url(urls, "tokenInfo"),
            data=data,
            dependencies=self._url(urls, "dependencies"),
            specifications=self._url(urls, "openApiMetadata"),
            change_queries=self._url(urls, "changeQueries", with_year=True),
            batch=self._url(urls, "batchApi"),
        )

    def _url(self, urls: Mapping[str, Any], name: str, *, with_year: bool = False) -> str:
        """An address of the discovery document; those that paths follow have the school year of the connection."""
        found = urls.get(name)
        if not isinstance(found, str) or not found:
            return ""
        year = self._connection.school_year
        address = _PLACEHOLDER_OF_YEAR.sub(str(year), found) if year else found
        self._check_host(address)
        if with_year:
            address = address.rstrip("/") + "/"
            if year and f"/{year}/" not in urlsplit(address).path:
                address += f"{year}/"
        return address

    def _checked(self, address: str) -> tuple[str, str, int]:
        try:
            return origin(checked_address(address, allows_plain_http=self._trust.allows_plain_http))
        except AddressRefused as refusal:
            raise RemoteFailed(f"{printable(address)}: {refusal.reason}") from None

    def _check_host(self, address: str) -> None:
        """Check that an address named by the remote API is of its own host: it could have the secret sent elsewhere."""
        scheme, host, _ = self._checked(address)
        if host not in self._hosts:
            raise RemoteFailed(f"it leads to another host: {printable(address)}")
        if self._base[0] == "https" and scheme != "https":
            raise RemoteFailed(f"it leads from https to http: {printable(address)}")

    def _current_token(self, refused: str | None = None) -> str:
        """A token that is not the refused one."""
        with self._token_lock:
            if not self._token.text or self._token.text == refused or time.monotonic() > self._token.renew_at:
                self._token = self._new_token()
            return self._token.text

    def _new_token(self) -> _Token:
        address = self.discovery.token
        if not address:
            raise RemoteFailed("its discovery names no address for tokens, and the connection has none")
        form = {"grant_type": "client_credentials"}
        if self._connection.scope:
            form["scope"] = str(self._connection.scope)
        credentials = base64.b64encode(f"{self._connection.key}:{self._secret}".encode()).decode()
        headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/x-www-form-urlencoded"}
        began = time.monotonic()
        answer = self._repeated("POST", address, urlencode(form).encode(), headers, most=_MOST_BYTES_OF_TOKEN)
        self.figures.tokens += 1
        found = expect(answer, address).json()
        token = found.get("access_token") if isinstance(found, dict) else None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise RemoteFailed("the answer to the request for a token has none")
        seconds = found.get("expires_in")
        is_life = isinstance(seconds, int | float) and seconds > 0
        life = min(seconds, _LONGEST_TOKEN_SECONDS) if is_life else _SECONDS_OF_TOKEN
        return _Token(token, began + life * _SHARE_OF_TOKEN)

    def _repeated(
        self, method: str, address: str, body: bytes | None, headers: Mapping[str, str], most: int = MOST_BYTES
    ) -> RemoteAnswer:
        try:
            answer = repeated(
                lambda: self._followed(method, address, body, headers, most),
                self._repetitions,
                BackOff(_FIRST_PAUSE, _LONGEST_PAUSE),
                self._wait_to_repeat,
            )
        except AnswerTooLarge as error:
            raise RemoteTooLarge(str(error)) from None
        except HttpFailed as error:
            raise RemoteFailed(f"{printable(address)} does not answer: {error}") from None
        found = RemoteAnswer(answer.status, answer.headers, answer.body)
        if found.status in WORTH_ANOTHER_TRY:
            raise RemoteFailed(f"{printable(address)} does not answer: {_status_and_reason(found)}")
        return found

    def _wait_to_repeat(self, seconds: float) -> None:
        self.figures.repeated += 1
        self.wait(seconds)

    def _followed(self, method: str, address: str, body: bytes | None, headers: Mapping[str, str], most: int) -> Answer:
        """The answer after redirects on the same host."""
        for _ in range(_MOST_REDIRECTS):
            answer = self._sent(method, address, body, headers, most)
            if answer.status not in _REDIRECTS or method != "GET":
                return answer
            before, address = address, joined(address, answer.headers.get("location", ""))
            if self._checked(address) != self._checked(before):
                raise RemoteFailed(f"{printable(before)} redirects to another host")
        raise RemoteFailed(f"{printable(address)} redirects too often")

    def _sent(self, method: str, address: str, body: bytes | None, headers: Mapping[str, str], most: int) -> Answer:
        if pause := self._pace.pause():
            self.wait(pause)
        self.figures.requests += 1
        return self._client.request(method, address, body, headers, most_bytes=most)


def expect(answer: RemoteAnswer, address: str, status: int = 200) -> RemoteAnswer:
    """The answer. Raises RemoteRefused if it has another status."""
    if answer.status != status:
        raise RemoteRefused(f"{printable(address)} answers {_status_and_reason(answer)}", answer.status)
    return answer


def _status_and_reason(answer: RemoteAnswer) -> str:
    return f"{answer.status} {answer.problem()}".strip() + _of(answer.correlation_id)


def _of(correlation_id: str) -> str:
    return f" (correlation id {printable(correlation_id)[:100]})" if correlation_id else ""


def joined(base: str, relative: str) -> str:
    """An address that may be relative to another one. Raises RemoteFailed for what is none."""
    try:
        return urljoin(base, relative)
    except ValueError:
        raise RemoteFailed(f"it names an address that is none: {printable(relative)[:_LONGEST_ID]}") from None


def plain_id(value: Any) -> str | None:
    """An id that can stand in an address, and in a text of the database."""
    text = value if isinstance(value, str) else ""
    is_plain = text.isascii() and text.replace("-", "").isalnum() and len(text) <= _LONGEST_ID
    return text if is_plain else None


def _short(value: Any) -> str:
    return printable(value)[:_LONGEST_NAME] if isinstance(value, str) else ""
