"""Counts and times every request under the resource or the view that answered it."""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import ResolverMatch

from edfi_api.observability.metrics import REQUESTS, SECONDS
from edfi_api.startup import current_surface

# Clients choose methods and paths; what they make up is counted under one name, or they could fill the memory.
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"})
_OTHER = "other"
_DATA_VIEW = "data"


class RequestMetricsMiddleware:
    """The outermost but one: everything that is answered is counted, refusals of other middleware too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        start = time.perf_counter()
        response = self.get_response(request)
        method = request.method if request.method in _METHODS else _OTHER
        view = request.resolver_match.view_name if request.resolver_match else _OTHER
        SECONDS.labels(method, view).observe(time.perf_counter() - start)
        REQUESTS.labels(method, _route(request.resolver_match), response.status_code).inc()
        return response


def _route(match: ResolverMatch | None) -> str:
    """`/ed-fi/students` for all its documents, the name of the view for other addresses."""
    if match is None:
        return _OTHER
    if match.view_name != _DATA_VIEW:
        return match.view_name
    project, _, rest = match.kwargs["path"].lower().partition("/")
    resource = current_surface().by_endpoint.get((project, rest.partition("/")[0]))
    return _OTHER if resource is None else resource.url_path
