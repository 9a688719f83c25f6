"""Exception → response. DRF calls `exception_handler` for API views, Django the other handlers for everything else."""

import logging
import sys
from collections.abc import Callable
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.common.addresses import root_of
from edfi_api.common.logs import audit
from edfi_api.common.logs.remote_address import remote_address
from edfi_api.model.surface.resource import Resource
from edfi_api.web.problem_details.catalog import SYSTEM_ERROR, problem_of
from edfi_api.web.problem_details.catalog.ods import RefusedAttempt, answered_problem, media_type
from edfi_api.web.problem_details.catalog.served_names import error_in_served_names
from edfi_api.web.problem_details.problem import MEDIA_TYPE, Problem
from edfi_api.web.problem_details.refused_requests import hints_of_view, hints_without_view

_HTML = "text/html"
log = logging.getLogger(__name__)


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's hook. Returns None for an unknown exception, which Django then logs and passes to `server_error`."""
    attempt = _attempt(context)
    problem = answered_problem(error, attempt)
    if problem is None:
        return None
    _log(problem, error)
    if problem.status in audit.DENIALS:
        _audit(problem, context["request"])
    request = context["request"]._request
    headers = problem.headers | _links(problem, request)
    served = error_in_served_names(error, attempt.resource)
    body = _with_hints(problem, request, lambda: hints_of_view(served, context))
    response = Response(body, problem.status, headers=headers, content_type=media_type(problem, attempt))
    response.problem_type, response.log_facts = problem.urn, problem.log_facts  # type: ignore[attr-defined]
    return response


def _attempt(context: dict[str, Any]) -> RefusedAttempt:
    view, resource = context["view"], getattr(context["view"], "resource", None)
    is_item = getattr(view, "detail", False) is True
    return RefusedAttempt(resource if isinstance(resource, Resource) else None, context["request"].method, is_item)


def _links(problem: Problem, request: HttpRequest) -> dict[str, str]:
    return {"Link": f'<{root_of(request)}/{problem.related}>; rel="related"'} if problem.related else {}


def _audit(problem: Problem, request: Request) -> None:
    """Write the refusal to the audit log, without query string and body, which may contain personal data."""
    audit.log_denial(
        status=problem.status,
        reason=problem.audit_reason or next(iter(problem.errors), problem.detail),
        issuer=problem.log_facts.get("issuer"),
        client=getattr(request._request, "client_key", None),
        tenant=getattr(request._request, "tenant", None),
        data_store=getattr(request._request, "data_store", None),
        method=request.method,
        path=request.path,
        address=remote_address(request._request),
    )


def client_error(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's `handler400`, for a host outside ALLOWED_HOSTS and the like, and `handler404`, for unknown paths."""
    problem = answered_problem(exception) or SYSTEM_ERROR
    return _response(request, problem, lambda: hints_without_view(exception, request))


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`: for a bug, mostly. The client gets the correlation id, under which it is logged."""
    error = sys.exception()
    return _response(request, (problem_of(error) if isinstance(error, Exception) else None) or SYSTEM_ERROR)


def correlation_id(request: HttpRequest) -> str:
    """The id that CorrelationIdMiddleware has set."""
    return getattr(request, "correlation_id", "")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's `handler403`: a page of the admin that the user may not see."""
    return _response(request, problem_of(PermissionDenied("Your user may not see this page.")) or SYSTEM_ERROR)


def _with_hints(problem: Problem, request: HttpRequest, hints: Callable[[], list[str]]) -> dict[str, Any]:
    """The body of the answer. Errors of the server have no hints."""
    body = problem.body(correlation_id(request))
    found = hints() if problem.status < 500 and not problem.is_short else []
    return body | {"hints": found} if found else body


def _response(request: HttpRequest, problem: Problem, hints: Callable[[], list[str]] = lambda: []) -> HttpResponse:
    """A page for browsers, which ask for one, and problem details for all others."""
    body = _with_hints(problem, request, hints)
    if _HTML in request.headers.get("Accept", ""):
        context = {
            "problem": problem,
            "hints": body.get("hints"),
            "correlation_id": correlation_id(request),
        }
        text = render_to_string("edfi_api/error.html", context, request)
        response = HttpResponse(text, status=problem.status, headers=problem.headers)
        response.headers["Content-Security-Policy"] = settings.CONTENT_SECURITY_POLICY
    else:
        response = HttpResponse(
            orjson.dumps(body), status=problem.status, content_type=MEDIA_TYPE, headers=problem.headers
        )
    patch_vary_headers(response, ["Accept"])
    response.problem_type = problem.urn  # type: ignore[attr-defined]  # for the request log
    return response


def _log(problem: Problem, error: Exception) -> None:
    if problem.status >= 500:
        log.error("answered %s: %s: %s", problem.status, type(error).__name__, error)
