"""Broken constraint → refusal, and exception → answer in the form of version 3, or of version 2 of the addresses."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError, connection, transaction
from django.db.models import ProtectedError
from psycopg import errors as postgres
from rest_framework.response import Response

from edfi_api.common.memory import MemoryExhausted
from edfi_api.common.request_body import UnsupportedCharset, UnsupportedCoding
from edfi_api.core.security.exceptions import IdentityProviderAway, TooManyRequests
from edfi_api.core.storage.driver.exceptions import is_outage
from edfi_api.features.management_api import problems, texts
from edfi_api.web.problem_details.catalog import problem_of
from edfi_api.web.problem_details.problem import MEDIA_TYPE, Problem

_CONTENDED = (postgres.LockNotAvailable, postgres.DeadlockDetected, postgres.SerializationFailure)
Form = Callable[[Problem, str], dict[str, Any] | None]


@contextmanager
def write_transaction(refusals: Mapping[str, problems.RequestRefused] | None = None) -> Iterator[None]:
    """A transaction at whose end deferred constraints are checked. A broken one raises the RequestRefused of its
    name, or IntegrityError."""
    try:
        with transaction.atomic():
            yield
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    except IntegrityError as error:
        cause = error.__cause__
        name = cause.diag.constraint_name if isinstance(cause, postgres.IntegrityError) else None
        refusal = (refusals or {}).get(name or "")
        if refusal is None:
            raise
        # A new one: exceptions of concurrent requests must not share their tracebacks.
        raise problems.RequestRefused(refusal.problem) from error


def problem_for(error: Exception) -> Problem | None:
    """The problem to answer with; None for a bug."""
    if isinstance(error, problems.RequestRefused):
        return error.problem
    if isinstance(error, IntegrityError | ProtectedError) or isinstance(error.__cause__, _CONTENDED):
        return problems.conflict().problem
    if isinstance(error, UnsupportedCoding | UnsupportedCharset | MemoryExhausted):
        return problem_of(error)
    if isinstance(error, IdentityProviderAway | TooManyRequests | OperationalError | InterfaceError) or (
        isinstance(error, DatabaseError) and is_outage(error)
    ):
        return problem_of(error)
    return None


def answer(problem: Problem, correlation_id: str, form: Form) -> Response:
    """`form` makes the body of a problem."""
    response = Response(
        form(problem, correlation_id), problem.status, headers=dict(problem.headers), content_type=MEDIA_TYPE
    )
    response.problem_type = problem.urn  # type: ignore[attr-defined]  # for the request log
    return response


def version_3(problem: Problem, correlation_id: str) -> dict[str, Any]:
    """As Ed-Fi's Configuration Service answers."""
    return problems.members_of(problem, correlation_id)


def version_2(problem: Problem, correlation_id: str) -> dict[str, Any] | None:
    """As Ed-Fi's Admin API 2 answers; nothing to callers without access."""
    if problem.status in (401, 403):
        return None
    found = problem.validation_errors or {}
    if "$" in found:
        return {"message": texts.V2.MALFORMED_JSON}
    if problem.status == 400:
        return {"title": "Validation failed", "errors": found or {"Request": problem.errors or [problem.detail]}}
    return {"title": problem.detail or problem.title}


FORMS: Mapping[str, Form] = {"v3": version_3, "v2": version_2}
