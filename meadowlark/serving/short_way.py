"""The short way of a request: what a view has prepared is called from here, without WSGI, middleware, routes and DRF.

Requests are of one kind if nothing differs between them but the id at the end of the path, the query string, the body,
the correlation id, and headers that say how the request came here. The first of a kind goes the long way, through
`_Exchange` in `gateway.py`. If its view leaves a prepared request (`edfi_api/web/prepared_requests.py`), the next ones
go the short way: the headers that middleware has added to the first answer are added to theirs, and the request is
counted and logged by the same functions. The short way answers only success: for a refusal it hands what the action
has raised to the long way, which makes the answer and does not call the action again.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from io import BytesIO
from threading import Lock
from time import perf_counter
from typing import NamedTuple
from wsgiref.types import WSGIEnvironment

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.correlation import CHOSEN, chosen_correlation_id, correlation_headers, current_id
from edfi_api.common.memory import HELD_UNTIL_ANSWERED
from edfi_api.web.answered_requests import DATA_VIEW, AnsweredRequest
from edfi_api.web.prepared_requests import (
    BEGAN,
    CARRIED_OUT,
    DOCUMENT_ID,
    PREPARED,
    CarriedOut,
    Found,
    PreparedRequest,
)
from meadowlark.serving.lean_handler import LeanRequest
from meadowlark.serving.rsgi import Fields, Headers, HTTPProtocol, Scope

_METHODS = frozenset({"GET", "POST", "PUT", "DELETE"})
# What proxies and traces add, which differs between requests of one client and decides about no answer.
_OF_THE_WAY = ("x-forwarded-for", "forwarded", "x-real-ip", "via", "x-request-id", "traceparent", "tracestate")
_LENGTH = "content-length"
_DIGITS = 9
# Longer bodies are counted before they are read, and take a share of the memory for large requests.
_LONGEST_BODY = 16 * 1024
_ID = re.compile(r"[0-9a-fA-F-]{32,36}")
# Together at most some sixteen megabytes, with headers that few clients need.
_MOST_KEPT = 2048
_LONGEST_HEADERS = 4096
# Of the variables of a first request, those that the next ones do not have or have of their own. A token is not kept.
_NOT_KEPT = frozenset(
    {
        "PATH_INFO", "QUERY_STRING", "CONTENT_LENGTH", "REMOTE_ADDR", "REMOTE_PORT", "HTTP_AUTHORIZATION", "wsgi.input",
        PREPARED, DOCUMENT_ID, HELD_UNTIL_ANSWERED,
    }
)  # fmt: skip

# Called for each answer.
Observe = Callable[[AnsweredRequest], None]


class Kept(NamedTuple):
    """A prepared request, the variables of the first one, the headers that middleware has added to its answer, and the
    position of the correlation id among these."""

    request: PreparedRequest
    variables: WSGIEnvironment
    headers: Fields
    position: int


class PlainRequest(NamedTuple):
    """A request that may go the short way if another one of its kind has gone the long way."""

    # A hash of everything that has to be equal: the headers have the token of the client.
    kind: bytes
    # What was kept of that one; it may be outdated.
    kept: Kept | None
    document_id: str | None
    # Of the body, in bytes.
    length: int
    # As the client sent it.
    correlation_id: str | None


class ReadWithOthers(NamedTuple):
    """What was read for a request together with others, and when that began, by `time.perf_counter`."""

    found: Found = None
    began: float = 0.0


ALONE = ReadWithOthers()


class PreparedRequests:
    """The prepared requests of a process, by kind; the oldest ones are dropped where there are too many. `put_back`
    puts the connections of the thread back into the pool, `observe` counts and logs an answer."""

    def __init__(self, put_back: Callable[[], None], observe: Observe) -> None:
        self._put_back = put_back
        self._observe = observe
        self._kept: dict[bytes, Kept] = {}
        self._lock = Lock()
        # Headers with an underscore are not read at all.
        self._of_correlation = tuple(name for name in correlation_headers() if "_" not in name)
        self._correlation_header = api_settings.CORRELATION_HEADER
        self._may_be_in_query = len(correlation_headers()) > 1
        self._differing = frozenset((*_OF_THE_WAY, *self._of_correlation, _LENGTH))
        self._not_kept = _NOT_KEPT | {f"HTTP_{name.upper().replace('-', '_')}" for name in self._differing}

    def plain(self, scope: Scope) -> PlainRequest | None:
        """The request as it is looked up here; None if it always goes the long way."""
        method, headers, query = scope.method, scope.headers, scope.query_string
        if method not in _METHODS or scope.http_version != "1.1":
            return None
        fields, differing = headers.items(), self._differing
        if len(fields) < len(headers):  # Some are not ASCII.
            return None
        path, _, id_ = scope.path.rpartition("/")
        document_id: str | None = id_
        if not _ID.fullmatch(id_):
            path, document_id = scope.path, None
        alike = [field for field in fields if field[0] not in differing]
        length, sent = 0, None
        if len(alike) < len(fields):
            length, sent = _length(headers), self._sent_correlation_id(fields)
        most = _LONGEST_BODY if method in ("POST", "PUT") else 0
        if length > most or "transfer-encoding" in headers:
            return None
        if query and self._may_be_in_query and ("correlationid" in query.lower() or "%" in query):
            return None
        has_query = "?" if query else ""
        text = "\n".join([method, f"{len(path)}{has_query}{document_id is None}{path}", *map(":".join, alike)])
        kind = sha256(text.encode()).digest()
        return PlainRequest(kind, self._kept.get(kind), document_id, length, sent)

    def read_together(self, requests: Sequence[PlainRequest]) -> list[ReadWithOthers]:
        """Read what these requests need, which are all read together."""
        began = perf_counter()
        prepared = [(each.kept.request, each.document_id) for each in requests if each.kept is not None]
        read = prepared[0][0].read_together
        assert read is not None  # noqa: S101  They are read together.
        try:
            return [ReadWithOthers(found, began) for found in read(prepared)]
        finally:
            self._put_back()

    def _sent_correlation_id(self, fields: Fields) -> str | None:
        values = (",".join([value for name, value in fields if name == wanted]) for wanted in self._of_correlation)
        return next((value for value in values if value), None)

    def answer(
        self,
        plain: PlainRequest,
        scope: Scope,
        body: bytes,
        protocol: HTTPProtocol,
        *,
        is_last: bool,
        read: ReadWithOthers = ALONE,
    ) -> WSGIEnvironment | None:
        """Answer the request, on a connection that is then closed if it is the last one there. Otherwise return the
        variables with which it has to go the long way."""
        kept, began = plain.kept, read.began or perf_counter()
        if kept is None or not kept.request.is_current():
            return {}
        request, correlation_id = kept.request, chosen_correlation_id(plain.correlation_id)
        context = current_id.set(correlation_id)
        try:
            try:
                as_django = partial(_as_django, kept, scope, body, correlation_id)
                done = request.carry_out(plain.document_id, as_django, read.found)
            finally:
                self._put_back()
            if isinstance(done, CarriedOut):
                return {CARRIED_OUT: done, BEGAN: began, CHOSEN: correlation_id}
            headers = done.headers + kept.headers
            headers[len(done.headers) + kept.position] = (self._correlation_header, correlation_id)
            if is_last:
                headers.append(("Connection", "close"))
            protocol.response_bytes(done.status, headers, done.body)
            seconds = perf_counter() - began
            facts = (scope.method, DATA_VIEW, request.route, done.status, seconds, request.client_key)
            self._observe(AnsweredRequest(*facts, done=done.done))
        finally:
            current_id.reset(context)
        return None

    def keep(self, plain: PlainRequest, variables: WSGIEnvironment, headers: Fields) -> None:
        """Keep what the view has left in the variables of a request that was answered with these headers, unless the
        client sends so many that entries would take much memory."""
        request: PreparedRequest = variables[PREPARED]
        own = len(request.own_headers)
        is_whole = tuple(name for name, _ in headers[:own]) == request.own_headers
        kept = {name: value for name, value in variables.items() if name not in self._not_kept}
        if not is_whole or sum(len(value) for value in kept.values() if isinstance(value, str)) > _LONGEST_HEADERS:
            return
        added = headers[own:]
        position = [name.lower() for name, _ in added].index(self._of_correlation[0])
        with self._lock:
            self._kept.pop(plain.kind, None)
            if len(self._kept) >= _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[plain.kind] = Kept(request, kept, added, position)


def _length(headers: Headers) -> int:
    """The length of the body; more than the longest one if it is not understood."""
    sent = headers.get(_LENGTH)
    if sent is None:
        return 0
    return int(sent) if sent.isdecimal() and len(sent) < _DIGITS else _LONGEST_BODY + 1


def _as_django(kept: Kept, scope: Scope, body: bytes, correlation_id: str) -> LeanRequest:
    variables = kept.variables | {
        "PATH_INFO": scope.path,
        "QUERY_STRING": scope.query_string,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": BytesIO(body),
    }
    request = LeanRequest(variables)
    request.correlation_id = correlation_id  # type: ignore[attr-defined]  # As the middleware does.
    return request
