"""Failures that the client did not cause: 500 and 503."""

from dataclasses import replace

from django.db import InterfaceError, InternalError, OperationalError

from edfi_api.common.memory import MemoryExhausted
from edfi_api.core.storage.driver import execution as driver
from edfi_api.core.storage.exceptions import NotChecked
from edfi_api.web.problem_details.catalog.registry import problem_of
from edfi_api.web.problem_details.problem import Problem


@problem_of.register(driver.TooMuchContention)
@problem_of.register(OperationalError)
@problem_of.register(InterfaceError)
@problem_of.register(MemoryExhausted)
def too_much_contention(error: Exception) -> Problem:
    return _UNAVAILABLE


@problem_of.register
def internal_error(error: InternalError) -> Problem | None:
    return _UNAVAILABLE if driver.is_outage(error) else None


@problem_of.register
def not_checked(error: NotChecked) -> Problem:
    problem = unavailable(retry_after=5, rule=error.rule)
    return replace(problem, errors=[f"The rule '{error.rule}' could not check the document."])


def unavailable(retry_after: int, **log_facts: str) -> Problem:
    """Worth a retry after so many seconds."""
    return Problem(
        status=503,
        type="service-unavailable",
        title="Service Unavailable",
        detail="The service is temporarily unable to handle the request. Retry the request later.",
        headers={"Retry-After": str(retry_after)},
        log_facts=log_facts,
    )


_UNAVAILABLE = unavailable(retry_after=5)
