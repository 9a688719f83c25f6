"""The short way of a request: what a view has prepared is called from here, without WSGI, middleware, routes and view.

Requests are of one kind if nothing differs between them but the id at the end of the path, the correlation id, and
headers that say how the request came here. The first of a kind goes the long way, through `_Exchange` in `gateway.py`.
If its view leaves a prepared request (`edfi_api/web/prepared_requests.py`), the next ones go the short way: the status
and headers are those of the first answer but for what differs between documents, and the request is counted and logged
by the same functions. What the short way cannot answer goes the long way: it never refuses.
"""

import logging
from collections.abc import Callable
from threading import Lock
from time import perf_counter
from typing import NamedTuple

from edfi_api.common.logs.correlation import chosen_correlation_id, correlation_headers
from edfi_api.web.prepared_requests import PreparedAnswer, PreparedRequest
from meadowlark.serving.large_answers import LARGE
from meadowlark.serving.lent_connections import LentConnections
from meadowlark.serving.rsgi import Fields, HTTPProtocol, Scope

_log = logging.getLogger("meadowlark.serving")

# What proxies and traces add, which differs between requests of one client and decides about no answer.
_OF_THE_WAY = ("x-forwarded-for", "forwarded", "x-real-ip", "via", "x-request-id", "traceparent", "tracestate")
_LENGTHS_OF_IDS = (32, 36)
# Together at most eight megabytes, with keys that few clients need.
_MOST_KEPT = 2048
_LONGEST_HEADERS = 4096

# Called for each answer with route, client, seconds and correlation id.
Observe = Callable[[str, str, float, str], None]
# The path before the id, and the headers.
Kind = tuple[str, tuple[tuple[str, str], ...]]


class PlainRequest(NamedTuple):
    """A request that may go the short way if another one of its kind has gone the long way."""

    kind: Kind
    id: str
    # As the client sent it.
    correlation_id: str | None
    # What another one of its kind has left.
    kept: "Kept | None"


class Kept(NamedTuple):
    """A prepared request, and the first answer: its headers, and the positions of those that differ, which are
    `Content-Length`, that of the correlation id, and `PreparedRequest.varying`."""

    request: PreparedRequest
    headers: Fields
    positions: tuple[int, ...]


class PreparedRequests:
    """The prepared requests of a process, by kind; the oldest ones are dropped where there are too many. `observe`
    counts and logs an answered one."""

    def __init__(self, connections: LentConnections, observe: Observe) -> None:
        self._connections = connections
        self._observe = observe
        self._kept: dict[Kind, Kept] = {}
        self._lock = Lock()
        # Headers with an underscore are not read at all.
        self._of_correlation = tuple(name for name in correlation_headers() if "_" not in name)
        self._differing = frozenset((*_OF_THE_WAY, *self._of_correlation))

    def plain(self, scope: Scope) -> PlainRequest | None:
        """The request with what is kept for its kind; None if it always goes the long way."""
        if scope.method != "GET" or scope.query_string or scope.http_version != "1.1":
            return None
        path, _, id_ = scope.path.rpartition("/")
        if len(id_) not in _LENGTHS_OF_IDS:
            return None
        headers = scope.headers
        fields, differing = headers.items(), self._differing
        if len(fields) < len(headers):  # Some are not ASCII.
            return None
        alike = tuple([field for field in fields if field[0] not in differing])
        sent = self._sent_correlation_id(fields) if len(alike) < len(fields) else None
        kind = path, alike
        return PlainRequest(kind, id_, sent, self._kept.get(kind))

    def _sent_correlation_id(self, fields: Fields) -> str | None:
        values = (",".join([value for name, value in fields if name == wanted]) for wanted in self._of_correlation)
        return next((value for value in values if value), None)

    def answer(self, plain: PlainRequest, protocol: HTTPProtocol, *, is_last: bool) -> bool:
        """Answer the request, on a connection that is then closed if it is the last one there; False if it has to go
        the long way."""
        kept = plain.kept
        if kept is None:
            return False
        begin = perf_counter()
        answer = self._made(kept.request, plain.id)
        if answer is None or len(answer.body) > LARGE:
            return False
        correlation_id = chosen_correlation_id(plain.correlation_id)
        headers = kept.headers.copy()
        values = (str(len(answer.body)), correlation_id, *answer.varying)
        for position, value in zip(kept.positions, values, strict=True):
            headers[position] = (headers[position][0], value)
        if is_last:
            headers.append(("Connection", "close"))
        self._observe(kept.request.route, kept.request.client_key, perf_counter() - begin, correlation_id)
        protocol.response_bytes(200, headers, answer.body)
        return True

    def _made(self, request: PreparedRequest, id_: str) -> PreparedAnswer | None:
        """None as well if no connection is open, or something fails: the long way opens one, and reports errors."""
        if not request.is_current():
            return None
        connection = self._connections.lend_open(request.using)
        if connection is None:
            return None
        session = connection.connection
        try:
            return request.answer(id_, connection)
        except Exception:
            _log.exception("A prepared request failed.")
            return None
        finally:
            self._connections.give_back(connection, session)
            # What a representation reads of the database once is read on a connection of the thread.
            self._connections.take_back()

    def keep(self, plain: PlainRequest, request: PreparedRequest, headers: Fields) -> None:
        """Keep what the view has left of a request that was answered 200 with these headers, unless the client sends
        so many that entries would take much memory."""
        if sum(len(name) + len(value) for name, value in plain.kind[1]) > _LONGEST_HEADERS:
            return
        names = [name.lower() for name, _ in headers]
        differing = ("content-length", self._of_correlation[0], *(name.lower() for name in request.varying))
        kept = Kept(request, headers, tuple(map(names.index, differing)))
        with self._lock:
            self._kept.pop(plain.kind, None)
            if len(self._kept) >= _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[plain.kind] = kept
