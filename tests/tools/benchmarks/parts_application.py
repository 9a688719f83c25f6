"""The application with and without each part of an answer, called by turns in one thread; see `parts.py`.

Reads `{"token": …, "requests": {name: [[method, path, body], …]}}` from standard input and prints the figures as JSON.
"""

import json
import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BytesIO
from statistics import median
from threading import Event
from types import ModuleType, SimpleNamespace
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import re_path

from edfi_api.core.security.requests.authentication import BearerTokenAuthentication
from meadowlark import wsgi
from meadowlark.serving import environ
from meadowlark.serving.delayed_answers import DelayedAnswers
from meadowlark.serving.gateway import Gateway
from meadowlark.serving.large_answers import Senders
from meadowlark.serving.lean_handler import LeanHandler
from meadowlark.serving.request_bodies import RequestBodies
from meadowlark.serving.turns import Caller, Turns
from tests.support.constant_application import constant

_AT_A_TIME = 100
_WARM_AFTER = 3
# Before that the ledger does not know what has open entries, and keeps every success.
_SECONDS_OF_THE_LEDGER = 1.5
_RECORDER = "edfi_api.features.refusals.recorder.Recorder"

# A POST may be the refused one.
_EXPECTED = {"GET": (200,), "POST": (200, 400)}

Request = tuple[str, str, Any]


@dataclass(frozen=True)
class Way:
    """How a request is answered: what is made of it beforehand, and what is measured; with these settings."""

    made: Callable[[Request], Any]
    answered: Callable[[Any], object]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def microseconds(self, requests: Sequence[Request]) -> float:
        """Of processor time of this thread for one request."""
        with override_settings(**self.settings):
            made = [self.made(request) for request in requests]
            start = time.thread_time()
            for each in made:
                self.answered(each)
            return 1e6 * (time.thread_time() - start) / len(made)


NOTHING = Way(lambda _: None, lambda _: None)


def by_turns(requests: Sequence[Request], with_part: Way, without: Way) -> tuple[float, float]:
    """What a request takes, and how much less without the part: medians."""
    taken, less = [], []
    pairs = len(requests) // (2 * _AT_A_TIME)
    for number in range(pairs):
        if number == _WARM_AFTER:
            time.sleep(_SECONDS_OF_THE_LEDGER)
        first, second = (
            requests[start : start + _AT_A_TIME] for start in (2 * number * _AT_A_TIME, (2 * number + 1) * _AT_A_TIME)
        )
        one = with_part.microseconds(first)
        other = without.microseconds(second)
        if number >= _WARM_AFTER:
            taken.append(one)
            less.append(one - other)
    return median(taken), median(less)


def main() -> None:
    """See the text of the module."""
    logging.disable()
    given = json.load(sys.stdin)
    # That of the import stays with this thread, and the short way of a request uses one that is idle.
    connections[DEFAULT_DB_ALIAS].close()
    del connections[DEFAULT_DB_ALIAS]
    parts = _parts(given["token"])
    print(
        json.dumps({name: by_turns(given["requests"][request], *ways) for name, (request, *ways) in parts.items()}),
        flush=True,
    )


def _parts(token: str) -> dict[str, tuple[str, Way, Way]]:
    """By name: the request, and the ways with and without the part."""

    def variables(request: Request) -> dict[str, Any]:
        return _variables(token, request)

    def handled(handler: Any, **changed: Any) -> Way:
        return Way(variables, lambda made: _answer(handler, made), changed)

    def without(middleware: str) -> Way:
        with override_settings(MIDDLEWARE=[each for each in settings.MIDDLEWARE if not each.endswith(middleware)]):
            return handled(LeanHandler())

    whole = handled(LeanHandler())
    authentication = BearerTokenAuthentication()
    of_drf = Way(lambda request: _request_of_drf(variables(request)), authentication.authenticate)
    recorded = [
        handled(LeanHandler(), EDFI_API=settings.EDFI_API | {"WRITE_RECORDER": name}) for name in (_RECORDER, "")
    ]
    with_constant = Way(lambda request: _scope(token, request), _gateway(_constant).handle_alone)
    by_prepared = _gateway(wsgi.application, wsgi.application.prepared_requests).handle_alone
    return {
        "the whole": ("GET", whole, NOTHING),
        "the same by what was prepared": ("GET", Way(lambda request: _scope(token, request), by_prepared), NOTHING),
        "HTTP engine's requests and answers": ("GET", with_constant, NOTHING),
        "Django's handler, middleware, routes": ("GET", handled(LeanHandler(), ROOT_URLCONF=_ROUTES), NOTHING),
        "of these, metrics and request log": ("GET", whole, without("ObservabilityMiddleware")),
        "of these, correlation id": ("GET", whole, without("CorrelationIdMiddleware")),
        "authentication": ("GET", of_drf, NOTHING),
        "ledger, of an accepted write": ("again", *recorded),
        "ledger, of a refused write": ("invalid", *recorded),
    }


def _variables(token: str, request: Request) -> dict[str, Any]:
    *_, body = request
    content = b"" if body is None else json.dumps(body).encode()
    made = environ.FIXED | environ.variables(_scope(token, request), "127.0.0.1:40000")
    made |= {"SERVER_NAME": "127.0.0.1", "SERVER_PORT": "8000", "wsgi.input": BytesIO(content)}
    return made | ({"CONTENT_LENGTH": str(len(content)), "CONTENT_TYPE": "application/json"} if content else {})


class _Headers(dict[str, str]):
    def items(self) -> Any:
        return list(super().items())


def _scope(token: str, request: Request) -> Any:
    method, path, _ = request
    headers = _Headers({"host": "127.0.0.1:8000", "authorization": f"Bearer {token}", "accept": "*/*"})
    head = {"method": method, "path": path, "query_string": "", "http_version": "1.1"}
    return SimpleNamespace(**head, client="127.0.0.1:40000", headers=headers)


class _Alone(Gateway):
    """Without an engine."""

    def handle_alone(self, scope: Any) -> None:
        self.handle(scope, _PROTOCOL)


class _Protocol:
    def response_bytes(self, status: int, headers: Any, body: bytes) -> None:
        if status != 200:
            raise RuntimeError(f"{status} {body!r}")


_PROTOCOL: Any = _Protocol()


_CALLER = Caller("127.0.0.1")


def _gateway(application: Any, prepared: Any = None) -> _Alone:
    made = environ.FIXED | {"SERVER_NAME": "127.0.0.1", "SERVER_PORT": "8000"}
    senders = Senders(ThreadPoolExecutor(1))
    return _Alone(
        application,
        made,
        RequestBodies(0, 60),
        senders,
        busy={},
        seconds=60,
        turns=Turns(1, most_waiting=1),
        delayed=DelayedAnswers(1, 1),
        caller_of=lambda _: _CALLER,
        stopping=Event(),
        prepared=prepared,
    )


def _constant(_: Any, start_response: Callable[..., Any]) -> list[bytes]:
    start_response("200 OK", [("Content-Length", "2"), ("Content-Type", "application/json")])
    return [b"{}"]


_ROUTES: Any = ModuleType("routes_to_a_constant")
_ROUTES.urlpatterns = [re_path("^data/(?P<rest>.*)$", constant, name="data")]


def _request_of_drf(variables: dict[str, Any]) -> Any:
    return SimpleNamespace(META=variables, _request=HttpRequest())


def _answer(handler: Any, variables: dict[str, Any]) -> None:
    answer: HttpResponse = handler(variables, lambda status, headers: None)
    if answer.status_code not in _EXPECTED[variables["REQUEST_METHOD"]]:
        raise RuntimeError(f"{answer.status_code} {b''.join(answer).decode()}")
    b"".join(answer)
    answer.close()
    wsgi._pool.put_back()
