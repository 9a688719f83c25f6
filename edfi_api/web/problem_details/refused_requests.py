"""A refused request, as Django or Django REST framework hands it to its handler of errors → the hints of its answer."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, cast

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest

from edfi_api.core.documents.violations import Leniency, Reason
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.profiles.negotiation import is_of_a_profile
from edfi_api.core.writes.writing import Write
from edfi_api.model.surface.ods_names import in_served_names
from edfi_api.model.surface.resource import Resource
from edfi_api.web.problem_details.catalog.registry import hints_of
from edfi_api.web.problem_details.hints.attempted_request import AttemptedRequest

_log = logging.getLogger(__name__)


def hints_of_view(error: Exception, context: dict[str, Any]) -> list[str]:
    """Return the hints for a request that a view has refused; `context` is that of the handler of Django REST
    framework.
    """
    return hints_if_any(error, lambda: _attempt(context["request"], context["view"]))


def hints_without_view(error: Exception, request: HttpRequest) -> list[str]:
    """Return the hints for a request that has come to no view."""
    attempt = AttemptedRequest(method=request.method or "", path=request.path, meta=request.META)
    return hints_if_any(error, lambda: attempt)


def hints_if_any(error: Exception, attempt: Callable[[], AttemptedRequest]) -> list[str]:
    """Return the hints for an attempt. They must not turn a refusal into an error of the server: without its database
    there are none.
    """
    try:
        return hints_of(error, attempt())
    except Exception:
        _log.exception("no hints for %s", type(error).__name__)
        return []


def _attempt(request: Any, view: Any) -> AttemptedRequest:
    """Return the request as far as the view has understood it."""
    write: Write | None = getattr(view, "write", None)
    leniency: Leniency | None = getattr(view, "leniency", None)
    resource = getattr(view, "resource", None)
    # The attributes as our requests keep them, and those of Django REST framework, whose property would authenticate
    # again.
    kept = vars(request)
    client = kept.get("user") or kept.get("_user")
    return AttemptedRequest(
        # The answer to HEAD has the headers of that to GET, its length among them.
        method="GET" if request.method == "HEAD" else request.method,
        path=request.path,
        meta=request.META,
        query=_query(request),
        resource=resource if isinstance(resource, Resource) else None,
        schema=_schema(request, write, resource, client),
        document=None if write is None else write.document,
        unknown=_unknown_members(leniency),
        surface=getattr(view, "surface", None),
        client=client if isinstance(client, AuthenticatedClient) else None,
        using=getattr(view, "using", None),
    )


def _query(request: Any) -> Mapping[str, str]:
    """Return the query of the request, which is empty if it has more parameters than Django reads."""
    try:
        return cast(Mapping[str, str], request.query_params)
    except SuspiciousOperation:
        return {}


def _schema(request: Any, write: Write | None, resource: Any, client: Any) -> dict[str, Any] | None:
    """Return the schema for a write that no view has read yet, if no profile can apply."""
    if write is not None:
        return None if write.schema is None else in_served_names(write.resource.resource).json_schema
    may_be_profiled = getattr(client, "profile_ids", ()) or is_of_a_profile(request.META.get("CONTENT_TYPE", ""))
    return None if may_be_profiled or not isinstance(resource, Resource) else in_served_names(resource).json_schema


def _unknown_members(leniency: Leniency | None) -> tuple[str, ...]:
    tolerated = () if leniency is None else leniency.tolerated
    return tuple(each.path for each in tolerated if each.reason is Reason.UNKNOWN_MEMBER)
