"""Counts, times and logs every request, by the resource or the view that answered it.

The log has a line for each request that was refused or failed, or with LOG_REQUESTS for every one: with the resource,
but no path, query or body, which contain names and ids of persons. Clients are labels of metrics, the first so many by
their keys, all others as one: each label is a time series that stays in memory for as long as the process lives.
"""

import logging
import time
from collections.abc import Callable
from functools import cache

from django.http import HttpRequest, HttpResponse
from prometheus_client import Counter, Histogram

from edfi_api.api.batch.record import BatchFigures
from edfi_api.conf import api_settings
from edfi_api.logs import log_lines
from edfi_api.operation.observability.metrics import (
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

# Clients choose methods and paths; unknown ones share a label, since any number of labels would fill the memory.
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"})
_OTHER = "other"
_DATA_VIEW = "data"
_BATCH_VIEW = "batch"
_PROBLEM_PREFIX = "urn:ed-fi:api:"
_MOST_CLIENTS = 100
_log = logging.getLogger("meadowlark.requests")


class ObservabilityMiddleware:
    """The second outermost middleware, so that answers of other middleware are counted too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        start = time.perf_counter()
        response = self.get_response(request)
        method = request.method if request.method in _METHODS else _OTHER
        view, route = _view_and_route(request)
        seconds = time.perf_counter() - start
        _timer(method, view).observe(seconds)
        _counter(method, route, response.status_code).inc()
        _count_problem_and_client(request, response)
        if view == _BATCH_VIEW and (batch := getattr(request, "batch", None)):
            batch.when_ended(_count_batch)
        log_request(request, response, method, route, seconds)
        return response


def _view_and_route(request: HttpRequest) -> tuple[str, str]:
    """For data, the path of the resource, which the router has set; otherwise the name of the view as both."""
    route = getattr(request, "data_route", None)
    if route is not None:
        return _DATA_VIEW, route or _OTHER
    name = request.resolver_match.view_name if request.resolver_match else _OTHER
    return name, name


def _count_problem_and_client(request: HttpRequest, response: HttpResponse) -> None:
    """The attributes are set where the problem and the client are known."""
    problem = getattr(response, "problem_type", None)
    if problem is not None:
        _problem_counter(problem).inc()
    store = getattr(request, "data_store", None)
    if store is not None and api_settings.STORE_METRICS:
        _store_counter(store, f"{response.status_code // 100}xx").inc()
        if reason := getattr(response, "log_facts", {}).get("refused"):
            STORE_REFUSED.labels(store, reason).inc()
    client = getattr(request, "client_key", None)
    if client is not None:
        status = response.status_code
        outcome = "answered" if status < 400 else "refused" if status < 500 else "failed"
        _client_counter(client_label(client), outcome).inc()


def _count_batch(batch: BatchFigures) -> None:
    for labels, number in batch.results.items():
        BATCH_OPERATIONS.labels(*labels).inc(number)
    BATCH_SECONDS.labels(batch.parameters.mode.value).observe(batch.seconds)
    BATCH_SIZE.observe(batch.operations)
    BATCH_ALONE.inc(batch.alone)


# prometheus_client would look these up under a lock for each request.
@cache
def _timer(method: str, view: str) -> Histogram:
    return SECONDS.labels(method, view)


@cache
def _counter(method: str, route: str, status: int) -> Counter:
    return REQUESTS.labels(method, route, status)


@cache
def _problem_counter(problem: str) -> Counter:
    return PROBLEMS.labels(problem.removeprefix(_PROBLEM_PREFIX))


@cache
def _store_counter(store: int, code_class: str) -> Counter:
    return STORE_REQUESTS.labels(store, code_class)


@cache
def _client_counter(label: str, outcome: str) -> Counter:
    return CLIENT_REQUESTS.labels(label, outcome)


def log_request(request: HttpRequest, response: HttpResponse, method: str, route: str, seconds: float) -> None:
    """`method` and `route` are the labels of the metrics. `request.client_key`, `response.problem_type` and
    `response.log_facts`, what else is known of the problem, are set where they are known."""
    status = response.status_code
    if status < 400 and not api_settings.LOG_REQUESTS:
        return
    facts = {
        "status": status,
        "problem": getattr(response, "problem_type", None),
        "method": method,
        "resource": route,
        "client": getattr(request, "client_key", None),
        "tenant": getattr(request, "tenant", None),
        "store": getattr(request, "data_store", None),
        "milliseconds": round(seconds * 1000, 1),
        **getattr(response, "log_facts", {}),
    }
    log_lines.write(_log, logging.ERROR if status >= 500 else logging.INFO, facts)


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
