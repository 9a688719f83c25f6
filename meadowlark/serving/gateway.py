"""Passes the requests of the engine to the WSGI application, and its answers to the engine."""

import logging
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from contextvars import Context, copy_context
from dataclasses import dataclass
from functools import partial
from itertools import chain
from threading import Event
from time import perf_counter
from wsgiref.types import WSGIApplication, WSGIEnvironment

from edfi_api.common.memory import HELD_UNTIL_ANSWERED, MemoryExhausted
from edfi_api.web.prepared_requests import CARRIED_OUT, DOCUMENT_ID, PREPARED
from edfi_api.web.problem_details.problem import SYSTEM_ERROR, Problem
from meadowlark.serving import environ, large_answers, own_answers
from meadowlark.serving.delayed_answers import DelayedAnswers
from meadowlark.serving.large_answers import LARGE, Senders
from meadowlark.serving.request_bodies import Body, RequestBodies, Unread, memory_for
from meadowlark.serving.request_groups import Member, RequestGroups
from meadowlark.serving.rsgi import Fields, HTTPProtocol, Scope
from meadowlark.serving.short_way import ALONE, PlainRequest, PreparedRequests, ReadWithOthers
from meadowlark.serving.turns import Caller, Turns, Work

_log = logging.getLogger("meadowlark.serving")

# Called for each answer with the variables of the request, status, headers, length of the body, and seconds it took.
AccessLog = Callable[[WSGIEnvironment, int, Fields, int, float], None]

# Why a body is not read, if it is an error of the client's or of the server's.
_PROBLEMS = {Unread.LATE: own_answers.BODY_TOO_SLOW, Unread.NO_ROOM: own_answers.TOO_MANY_BODIES}
_NONE: WSGIEnvironment = {}
# Answers with this status are sent a while later: who does not wait until then is to have the same pause.
_TOO_MANY_REQUESTS = 429


@dataclass(frozen=True)
class Gateway:
    """Answers requests by a WSGI application; `variables` are the same in all of them.

    Large answers are sent by the threads of `senders`, each for as long as its client takes some of the answer within
    `seconds`, and not less than a minimum over all.
    """

    application: WSGIApplication
    variables: WSGIEnvironment
    bodies: RequestBodies
    senders: Senders
    # Clients, as address and port, whose request has arrived and is not answered yet, by exchange.
    busy: dict[object, str]
    seconds: float
    turns: Turns
    # To clients that send too many requests.
    delayed: DelayedAnswers
    # Whose turn a request takes.
    caller_of: Callable[[WSGIEnvironment], Caller]
    # From then on each answer is the last one of its connection.
    stopping: Event
    access_log: AccessLog | None = None
    # Without it, all requests go the long way.
    prepared: PreparedRequests | None = None
    # Without it, each request is answered alone.
    groups: RequestGroups | None = None

    def handle(self, scope: Scope, protocol: HTTPProtocol) -> None:
        """Answers at once, or when the body has arrived and it is the client's turn: by what a request of the same kind
        has prepared, or else by the application."""
        plain = self.prepared.plain(scope) if self.prepared else None
        if plain is None or plain.kept is None:
            self._exchange(scope, protocol, plain).begin()
        elif self.groups and plain.kept.request.read_together:
            self._join_group(self.groups, plain, scope, protocol)
        elif plain.length:
            self.bodies.read(protocol, plain.length, partial(self._take_turn, plain, scope, protocol))
        else:
            self._take_turn(plain, scope, protocol, b"", _release_nothing)

    def _take_turn(
        self,
        plain: PlainRequest,
        scope: Scope,
        protocol: HTTPProtocol,
        body: Body | Unread,
        release: Callable[[], None],
    ) -> None:
        """Answer the body, or refuse it. `release` is called when the body is no longer in memory."""
        assert plain.kept is not None  # noqa: S101  It was found.
        if not isinstance(body, bytes):
            self._exchange(scope, protocol, plain).receive_body(body, release)
            return
        self.busy[protocol] = scope.client
        work = partial(self._answer_prepared, plain, scope, protocol, body, release)
        if not self.turns.take(plain.kept.request.client_key, work):
            release()
            self._refuse_waiting(plain, scope, protocol)

    def _join_group(self, groups: RequestGroups, plain: PlainRequest, scope: Scope, protocol: HTTPProtocol) -> None:
        assert plain.kept is not None  # noqa: S101  It was found.
        self.busy[protocol] = scope.client
        answer = partial(self._answer_member, plain, scope, protocol)
        if not groups.add(Member(plain.kept.request.client_key, plain, answer)):
            self._refuse_waiting(plain, scope, protocol)

    def _refuse_waiting(self, plain: PlainRequest, scope: Scope, protocol: HTTPProtocol) -> None:
        """Refuse a request of a client of whom too many wait."""
        self.busy.pop(protocol, None)
        self._exchange(scope, protocol, plain).refuse_later(own_answers.TOO_MANY_REQUESTS_WAITING)

    def _answer_member(self, plain: PlainRequest, scope: Scope, protocol: HTTPProtocol, read: ReadWithOthers) -> None:
        self._answer_prepared(plain, scope, protocol, b"", _release_nothing, read=read)

    def _answer_prepared(
        self,
        plain: PlainRequest,
        scope: Scope,
        protocol: HTTPProtocol,
        body: bytes,
        release: Callable[[], None],
        *,
        read: ReadWithOthers = ALONE,
    ) -> None:
        """Answer by what was prepared, and what that does not answer by the application."""
        assert self.prepared is not None  # noqa: S101  It has read the request.
        try:
            further = self.prepared.answer(plain, scope, body, protocol, is_last=self.stopping.is_set(), read=read)
            if further is not None:
                self._exchange(scope, protocol, plain, further).answer(body)
        finally:
            self.busy.pop(protocol, None)
            release()

    def _exchange(
        self, scope: Scope, protocol: HTTPProtocol, plain: PlainRequest | None, further: WSGIEnvironment = _NONE
    ) -> "_Exchange":
        client = scope.client
        return _Exchange(self, client, self.variables | environ.variables(scope, client) | further, protocol, plain)


class _Exchange:
    """A request and its answer, the long way. What the view of a `plain` request prepares is kept."""

    def __init__(
        self,
        gateway: Gateway,
        client: str,
        variables: WSGIEnvironment,
        protocol: HTTPProtocol,
        plain: PlainRequest | None = None,
    ) -> None:
        self._gateway = gateway
        self._plain = plain
        self._client = client
        self._variables = variables
        self._protocol = protocol
        self._begin = perf_counter()
        self._is_last = False
        self._status = 500
        self._headers: Fields = []
        self._blocks: Iterable[bytes] = ()
        # Of a large answer, with what of it is in memory, in bytes.
        self._rest: Iterable[bytes] | None = None
        self._held = 0

    def begin(self) -> None:
        """Answer at once, or when the body has arrived."""
        if problem := own_answers.of_head(self._variables):
            self.refuse(problem)
        elif (length := environ.body_length(self._variables)) == 0:
            self._take_turn(partial(self.answer, b""))
        else:
            self._read_body(length)

    def _take_turn(self, work: Work) -> bool:
        """Work, now or later; False if the request is refused."""
        self._gateway.busy[self] = self._client
        caller = self._gateway.caller_of(self._variables)
        if self._gateway.turns.take(caller.name, work, is_known=caller.is_known):
            return True
        self.refuse_later(own_answers.TOO_MANY_REQUESTS_WAITING)
        return False

    def _read_body(self, length: int | None) -> None:
        bodies = self._gateway.bodies
        if limit := environ.bytes_in_file(self._variables):
            bodies.read_into_file(self._protocol, length, limit, self.receive_body)
        else:
            bodies.read(self._protocol, length, self.receive_body)

    def receive_body(self, body: Body | Unread, release: Callable[[], None]) -> None:
        """Answer the body, or refuse it. `release` is called when the body is no longer in memory."""
        if isinstance(body, Unread) and (problem := _PROBLEMS.get(body)):
            release()
            self.refuse(problem)
        elif not self._take_turn(partial(self._answer_body, body, release)):
            release()

    def _answer_body(self, body: Body | Unread, release: Callable[[], None]) -> None:
        try:
            self.answer(body)
        finally:
            release()

    def answer(self, body: Body | Unread) -> None:
        """Answer the request, in the client's turn."""
        self._gateway.busy[self] = self._client
        self._is_last = body is Unread.INCOMPLETE
        if self._plain is not None and CARRIED_OUT not in self._variables:
            self._variables |= {PREPARED: None, DOCUMENT_ID: self._plain.document_id}
        environ.add_body(self._variables, None if isinstance(body, Unread) else body)
        # What the application sets in this context is still there when the rest of a large answer is made.
        context = copy_context()
        try:
            with ExitStack() as held:
                held.enter_context(memory_for(body))
                self._variables[HELD_UNTIL_ANSWERED] = held
                context.run(self._call)
        except MemoryExhausted:
            return self.refuse(own_answers.TOO_MANY_BODIES)
        except Exception:
            _log.exception("The application failed.")
            return self.refuse(SYSTEM_ERROR)
        if self._rest is not None:
            self._pass_to_sender(context, self._rest)
        return None

    def _pass_to_sender(self, context: Context, rest: Iterable[bytes]) -> None:
        """Refuse a read if too many answers wait. What may have written is answered: a refusal would deny it."""
        is_read = self._variables["REQUEST_METHOD"] == "GET"
        send = partial(context.run, self._send, rest)
        if not self._gateway.senders.submit(self._held, send, is_refusable=is_read):
            context.run(self.refuse, own_answers.TOO_MANY_LARGE_ANSWERS)

    def _call(self) -> None:
        """Call the application, and send its answer unless it is large."""
        self._blocks = self._gateway.application(self._variables, self._start_response)
        blocks, size = iter(self._blocks), 0
        first: list[bytes] = []
        for block in blocks:
            first.append(block)
            size += len(block)
            if size > LARGE:
                self._rest, self._held = chain(first, blocks), size
                return
        send = partial(self._protocol.response_bytes, self._status, self._headers, b"".join(first))
        if self._status == _TOO_MANY_REQUESTS:
            self._finish(size)
            self._gateway.delayed.add(send)
            return
        send()
        self._keep_prepared()
        self._finish(size)

    def _keep_prepared(self) -> None:
        """Keep what the view has prepared, for the next requests of the same kind."""
        prepared = self._gateway.prepared
        if self._variables.get(PREPARED) and prepared and self._plain and not self._gateway.stopping.is_set():
            prepared.keep(self._plain, self._variables, self._headers)

    def _start_response(self, status: str, headers: Fields, *_: object) -> Callable[[bytes], object]:
        self._status = int(status[:3])
        is_last = self._is_last or self._gateway.stopping.is_set()
        self._headers = [*headers, ("Connection", "close")] if is_last else headers
        return _write

    def _send(self, answer: Iterable[bytes]) -> None:
        size = 0
        try:
            size = large_answers.send(self._protocol, self._status, self._headers, answer, self._gateway.seconds)
        except (BrokenPipeError, TimeoutError):
            pass  # The client has gone, or does not read.
        except Exception:
            _log.exception("A large answer failed, and was cut off.")
        finally:
            self._finish(size)

    def refuse_later(self, problem: Problem) -> None:
        """Answer with the problem after a while, in which the connection may be closed for the benefit of others."""
        self._gateway.busy.pop(self, None)
        self._gateway.delayed.add(partial(self.refuse, problem))

    def refuse(self, problem: Problem) -> None:
        """Answer with the problem."""
        self._status, self._headers = problem.status, []
        size = 0
        try:
            size = own_answers.send(self._protocol, problem)
        finally:
            self._finish(size)

    def _finish(self, size: int) -> None:
        """Release what the request holds, and log it: the answer of so many bytes is sent or cut off."""
        try:
            if close := getattr(self._blocks, "close", None):
                close()
            if body := self._variables.get("wsgi.input"):
                body.close()
            if log := self._gateway.access_log:
                log(self._variables, self._status, self._headers, size, perf_counter() - self._begin)
        finally:
            self._gateway.busy.pop(self, None)


def _release_nothing() -> None:
    """Release nothing: there is no body."""


def _write(_: bytes) -> object:
    """Stand in for WSGI's way to write answers, for applications that do not return them; Django always does."""
    raise NotImplementedError
