"""Times, logs and counts every request, by the resource or the view that answered it.

Requests are counted after their answers: each leaves its facts, and a thread adds them to the metrics. To do so at
once took a tenth of the processor time of a GET by id.

The log has a line for each request that was refused or failed, or with LOG_REQUESTS for every one: with the resource,
but no path, query or body, which contain names and ids of persons. Clients are labels of metrics, the first so many by
their keys, all others as one: each label is a time series that stays in memory for as long as the process lives.
"""

import atexit
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from prometheus_client import Counter as Metric
from prometheus_client import Histogram

from edfi_api.common.conf import api_settings
from edfi_api.common.contributions import contributions
from edfi_api.common.logs.printable import log_facts
from edfi_api.site.observability.metrics import (
    BATCH_ALONE,
    BATCH_OPERATIONS,
    BATCH_SECONDS,
    BATCH_SIZE,
    CLIENT_REQUESTS,
    PROBLEMS,
    REQUESTS,
    SECONDS,
    STORE_REFUSED,
    STORE_REQUESTS,
)
from edfi_api.web.answered_requests import DATA_VIEW, AnsweredRequest
from edfi_api.web.batch.record import BatchFigures
from edfi_api.web.prepared_requests import BEGAN

# Clients choose methods and paths; unknown ones share a label, since any number of labels would fill the memory.
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"})
_OTHER = "other"
_BATCH_VIEW = "batch"
_PROBLEM_PREFIX = "urn:ed-fi:api:"
_MOST_CLIENTS = 100
_NO_FACTS: Mapping[str, Any] = {}
_SECONDS_BETWEEN_COUNTS = 0.1
# More than a process answers in that time: if the thread does not run, requests count.
_MOST_PENDING = 10_000
_log = logging.getLogger("meadowlark.requests")
_log_of_bugs = logging.getLogger(__name__)


class RequestCounts:
    """The requests that a process has answered and not counted yet; `count` adds them to the metrics."""

    def __init__(self, count: Callable[[Sequence[AnsweredRequest]], None]) -> None:
        self._count = count
        self._pending: deque[AnsweredRequest] = deque()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._is_idle = True
        self._thread: threading.Thread | None = None

    def add(self, answered: AnsweredRequest) -> None:
        """The request is counted soon."""
        self._pending.append(answered)
        if self._is_idle:
            self._resume()
        elif len(self._pending) > _MOST_PENDING:
            self.flush()

    def flush(self) -> None:
        """Count what is pending. When it returns, everything that was added before has been counted."""
        with self._lock:
            try:
                self._count([self._pending.popleft() for _ in range(len(self._pending))])
            except Exception:  # The thread must outlive a bug; requests do not depend on it.
                _log_of_bugs.exception("requests were not counted")

    def _resume(self) -> None:
        """The thread starts with the first request, so after the process has forked."""
        if self._thread is None:
            self._start()
        self._wake.set()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
                self._thread.start()
                atexit.register(self.flush)

    def _run(self) -> None:
        while self._wake.wait():
            self._wake.clear()
            self._is_idle = False
            while self._pending:
                time.sleep(_SECONDS_BETWEEN_COUNTS)
                self.flush()
            self._is_idle = True
            if self._pending:  # A request may have been added before it could see that the thread is idle.
                self._wake.set()


class ObservabilityMiddleware:
    """The second outermost middleware, so that answers of other middleware are counted too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        start = request.META.get(BEGAN) or time.perf_counter()
        response = self.get_response(request)
        method = request.method if request.method in _METHODS else _OTHER
        view, route = _view_and_route(request)
        facts: Mapping[str, Any] = getattr(response, "log_facts", _NO_FACTS)
        answered = AnsweredRequest(
            method,
            view,
            route,
            response.status_code,
            time.perf_counter() - start,
            # Set where client, problem and data store are known.
            getattr(request, "client_key", None),
            getattr(response, "problem_type", None),
            getattr(request, "data_store", None),
            facts.get("refused"),
            getattr(request, "done", None) or getattr(response, "done", None) or getattr(response, "data", None),
        )
        request_counts.add(answered)
        if view == _BATCH_VIEW and (batch := getattr(request, "batch", None)):
            batch.call_when_ended(_count_batch)
        if is_logged(answered):
            log_request(answered, getattr(request, "tenant", None), facts)
        return response


def _view_and_route(request: HttpRequest) -> tuple[str, str]:
    """Return the view and the route: for data the path of the resource, which the router has set; otherwise the name of
    the view as both.
    """
    route = getattr(request, "data_route", None)
    if route is not None:
        return DATA_VIEW, route or _OTHER
    name = request.resolver_match.view_name if request.resolver_match else _OTHER
    return name, name


def _count(requests: Sequence[AnsweredRequest]) -> None:
    numbers = Counter[tuple[Metric, tuple[str | int, ...]]]()
    for each in requests:
        _timer(each.method, each.view).observe(each.seconds)
        numbers[REQUESTS, (each.method, each.route, each.status)] += 1
        if each.problem is not None:
            numbers[PROBLEMS, (each.problem.removeprefix(_PROBLEM_PREFIX),)] += 1
        if each.store is not None and api_settings.STORE_METRICS:
            numbers[STORE_REQUESTS, (each.store, f"{each.status // 100}xx")] += 1
            if each.refused:
                numbers[STORE_REFUSED, (each.store, each.refused)] += 1
        if each.client is not None:
            outcome = "answered" if each.status < 400 else "refused" if each.status < 500 else "failed"
            numbers[CLIENT_REQUESTS, (client_label(each.client), outcome)] += 1
    for (metric, labels), number in numbers.items():
        metric.labels(*labels).inc(number)
    for counter in _request_counters():
        counter.count(requests)


request_counts = RequestCounts(_count)


def _count_batch(batch: BatchFigures) -> None:
    for labels, number in batch.results.items():
        BATCH_OPERATIONS.labels(*labels).inc(number)
    BATCH_SECONDS.labels(batch.parameters.mode.value).observe(batch.seconds)
    BATCH_SIZE.observe(batch.operations)
    BATCH_ALONE.inc(batch.alone)
    for counter in _request_counters():
        counter.count_batch(batch)


@cache
def _request_counters() -> tuple[Any, ...]:
    """Return what capabilities count of requests."""
    return tuple(contributions("request_counters"))


# prometheus_client would look it up under a lock for each request.
@cache
def _timer(method: str, view: str) -> Histogram:
    return SECONDS.labels(method, view)


def is_logged(answered: AnsweredRequest) -> bool:
    """Return whether the request has a line in the log."""
    return answered.status >= 400 or bool(api_settings.LOG_REQUESTS)


def log_request(answered: AnsweredRequest, tenant: str | None = None, known: Mapping[str, Any] = _NO_FACTS) -> None:
    """Write the line of a request; `known` is what else is known of its problem."""
    facts = {
        "status": answered.status,
        "problem": answered.problem,
        "method": answered.method,
        "resource": answered.route,
        "client": answered.client,
        "tenant": tenant,
        "store": answered.store,
        "milliseconds": round(answered.seconds * 1000, 1),
        **known,
    }
    log_facts(_log, logging.ERROR if answered.status >= 500 else logging.INFO, facts)


def observe_prepared(answered: AnsweredRequest) -> None:
    """Count and log a data request that was answered without the middleware, as the middleware does."""
    request_counts.add(answered)
    if is_logged(answered):
        log_request(answered)


class BoundedLabels:
    """The first `most` names as they are, `other` for the rest. Concurrent threads may exceed the bound by a few."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()

    def __call__(self, name: str) -> str:
        if name not in self._known:
            if len(self._known) >= self._most:
                return _OTHER
            self._known.add(name)
        return name


client_label = BoundedLabels(_MOST_CLIENTS)
