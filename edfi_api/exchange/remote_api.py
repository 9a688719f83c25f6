"""Another Ed-Fi API as one client of it: tokens, discovery, and requests that are repeated while that may help.

The other side is not trusted. Addresses lead to the hosts of the connection only, answers are bounded in size and time,
redirects are followed on the same host. What can pass is repeated with doubled pauses: 408, 429 (as Retry-After says),
5xx, timeouts and broken connections; a token is renewed before it ends and after a 401. Every other answer is the
caller's. Methods may be called by several threads.
"""

from __future__ import annotations

import base64
import re
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import orjson
from urllib3 import BaseHTTPResponse, PoolManager, Timeout
from urllib3.exceptions import HTTPError

from edfi_api.documents import json_text
from edfi_api.exchange.models import Connection
from edfi_api.exchange.remote_addresses import AddressRefused, checked_address, origin
from edfi_api.logs.printable import printable
from edfi_api.version import VERSION

_MOST_BYTES = 64 * 2**20
_MOST_BYTES_OF_TOKEN = 64 * 1024
_BLOCK = 256 * 1024
_SECONDS_TO_CONNECT = 10.0
_SECONDS_WITHOUT_BYTES = 60.0
_SECONDS_OF_ANSWER = 300.0
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 60.0
MOST_REPETITIONS = 10
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})
_MOST_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Part of the life of a token after which it is renewed.
_SHARE_OF_TOKEN = 0.8
_SECONDS_OF_TOKEN = 1800
_PLACEHOLDER_OF_YEAR = re.compile(r"\{[^{}]*year[^{}]*\}", re.IGNORECASE)
_CORRELATION = ("correlation-id", "x-correlation-id", "x-request-id")


@dataclass
class RemoteFailed(Exception):
    """The other side does not answer, or not as an Ed-Fi API; worth another try later. `reason` is for people."""

    reason: str

    def __str__(self) -> str:
        return self.reason


class RemoteStopped(RemoteFailed):
    """The process ends, so nothing is waited for any longer."""


@dataclass
class RemoteRefused(RemoteFailed):
    """An answer with another status than the one that is needed."""

    status: int = 0


@dataclass(frozen=True, slots=True)
class Trust:
    """What connections are made to: `ca` is a file of certificates of authorities in place of the system's."""

    ca: Path | None = None
    allows_plain_http: bool = False


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
    """Status, headers with names in lower case, and body. `correlation_id` is that of the other side, if it has one."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def correlation_id(self) -> str:
        return next((self.headers[name] for name in _CORRELATION if name in self.headers), "")

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Any:
        """With every digit of numbers. Raises RemoteFailed."""
        try:
            return json_text.loads(self.body)
        except orjson.JSONDecodeError:
            raise RemoteFailed(f"the answer is not JSON{_of(self.correlation_id)}") from None

    def problem(self) -> str:
        """What a refusal says, for people."""
        try:
            found = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return ""
        said = [found.get(name) for name in ("detail", "message", "error")] if isinstance(found, dict) else []
        return printable(next((each for each in said if isinstance(each, str)), ""))[:500]


@dataclass(frozen=True, slots=True)
class Discovery:
    """What the other side says of itself. Addresses end with a slash where paths follow them; `batch` and
    `change_queries` are empty if it has none."""

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
    # By the monotonic clock.
    renew_at: float = 0.0


@dataclass(slots=True)
class RequestFigures:
    """What requests have needed, for reports."""

    requests: int = 0
    repeated: int = 0
    tokens: int = 0


class RemoteApi:
    """The other side of a connection. `connections` are kept open at once; `stop` ends waiting; `repetitions` of a
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
        self._token = _Token()
        self._token_lock = threading.Lock()
        self._discovery: Discovery | None = None
        self.figures = RequestFigures()
        self._base = self._checked(connection.address)
        self._hosts = {self._base[1]}
        if connection.token_address:
            self._hosts.add(self._checked(connection.token_address)[1])
        self._pool = PoolManager(
            num_pools=4,
            maxsize=connections,
            block=True,
            timeout=Timeout(connect=_SECONDS_TO_CONNECT, read=_SECONDS_WITHOUT_BYTES),
            ssl_context=ssl.create_default_context(cafile=trust.ca),
        )

    def close(self) -> None:
        self._pool.clear()

    @property
    def discovery(self) -> Discovery:
        """Read once. Raises RemoteFailed."""
        if self._discovery is None:
            self._discovery = self._read_discovery()
        return self._discovery

    def get(
        self, address: str, parameters: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> RemoteAnswer:
        """The answer, with a token. Raises RemoteFailed if there is none after the last attempt."""
        return self.request("GET", f"{address}?{urlencode(parameters)}" if parameters else address, headers=headers)

    def get_json(
        self, address: str, parameters: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        """The JSON of a 200. Raises RemoteFailed, of which RemoteRefused is one."""
        return expect(self.get(address, parameters, headers), address).json()

    def request(
        self, method: str, address: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> RemoteAnswer:
        """As `get`, for any method; `body` is JSON. Repeating it has to be harmless, as it is in an Ed-Fi API."""
        self._checked_of_hosts(address)
        token = self._current_token()
        answer = self._repeated(method, address, body, self._headers(token, body, headers))
        if answer.status == 401:
            answer = self._repeated(method, address, body, self._headers(self._current_token(token), body, headers))
        return answer

    def introspection(self) -> Any:
        """What the other side says about the token; None if it does not."""
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
        """Raises RemoteStopped if the process ends meanwhile."""
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
            version=str(found.get("version", "")),
            informational_version=str(found.get("informationalVersion", "")),
            data_models={
                str(each["name"]): str(each.get("version", ""))
                for each in (models if isinstance(models, list) else [])
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
        if with_year:
            address = address.rstrip("/") + "/"
            if year and f"/{year}/" not in urlsplit(address).path:
                address += f"{year}/"
        self._checked_of_hosts(address)
        return address

    def _checked(self, address: str) -> tuple[str, str, int]:
        try:
            return origin(checked_address(address, allows_plain_http=self._trust.allows_plain_http))
        except AddressRefused as refusal:
            raise RemoteFailed(f"{printable(address)}: {refusal.reason}") from None

    def _checked_of_hosts(self, address: str) -> None:
        """Addresses that the other side names are of its own host, or it could have the secret sent elsewhere."""
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
        life = float(seconds) if isinstance(seconds, int | float) and seconds > 0 else _SECONDS_OF_TOKEN
        return _Token(token, began + life * _SHARE_OF_TOKEN)

    def _repeated(
        self, method: str, address: str, body: bytes | None, headers: Mapping[str, str], most: int = _MOST_BYTES
    ) -> RemoteAnswer:
        failure = ""
        for attempt in range(self._repetitions + 1):
            pause = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)
            try:
                answer = self._followed(method, address, body, headers, most)
            except (HTTPError, OSError) as error:
                failure = printable(f"{type(error).__name__}: {error}")[:300]
            else:
                if answer.status not in _WORTH_ANOTHER_TRY:
                    return answer
                failure = f"{answer.status} {answer.problem()}{_of(answer.correlation_id)}".strip()
                pause = max(pause, _retry_after(answer.headers))
            if attempt < self._repetitions:
                self.figures.repeated += 1
                self.wait(pause)
        raise RemoteFailed(f"{printable(address)} does not answer: {failure}")

    def _followed(
        self, method: str, address: str, body: bytes | None, headers: Mapping[str, str], most: int
    ) -> RemoteAnswer:
        """The answer behind redirects on the same host."""
        for _ in range(_MOST_REDIRECTS):
            answer = self._sent(method, address, body, headers, most)
            if answer.status not in _REDIRECTS or method != "GET":
                return answer
            before, address = address, urljoin(address, answer.headers.get("location", ""))
            if self._checked(address) != self._checked(before):
                raise RemoteFailed(f"{printable(before)} redirects to another host")
        raise RemoteFailed(f"{printable(address)} redirects too often")

    def _sent(
        self, method: str, address: str, body: bytes | None, headers: Mapping[str, str], most: int
    ) -> RemoteAnswer:
        self.figures.requests += 1
        deadline = time.monotonic() + _SECONDS_OF_ANSWER
        common = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"Meadowlark/{VERSION}"}
        response = self._pool.request(
            method,
            address,
            body=body,
            headers={**common, **headers},
            preload_content=False,
            redirect=False,
            retries=False,
        )
        is_read = False
        try:
            read = _read(response, most, deadline)
            is_read = True
        finally:
            if is_read:
                response.release_conn()
            else:
                response.close()
        lower = {name.lower(): value for name, value in response.headers.items()}
        return RemoteAnswer(response.status, lower, read)


def expect(answer: RemoteAnswer, address: str, status: int = 200) -> RemoteAnswer:
    """The answer. Raises RemoteRefused if it has another status."""
    if answer.status != status:
        said = f"{answer.status} {answer.problem()}".strip()
        raise RemoteRefused(f"{printable(address)} answers {said}{_of(answer.correlation_id)}", answer.status)
    return answer


def _of(correlation_id: str) -> str:
    return f" (correlation id {printable(correlation_id)[:100]})" if correlation_id else ""


def _read(response: BaseHTTPResponse, most: int, deadline: float) -> bytes:
    parts, size = [], 0
    while part := response.read(_BLOCK, decode_content=True):
        parts.append(part)
        size += len(part)
        if size > most:
            raise RemoteFailed(f"an answer has more than {most:,} bytes")
        if time.monotonic() > deadline:
            raise HTTPError(f"an answer takes longer than {_SECONDS_OF_ANSWER:.0f} s")
    return b"".join(parts)


def _retry_after(headers: Mapping[str, str]) -> float:
    """In seconds, at most a minute; dates are not read."""
    said = headers.get("retry-after", "")
    return min(float(said), _LONGEST_PAUSE) if said.isascii() and said.isdecimal() else 0.0
