"""The entry point of the catalog, and the forms that several errors have."""

from collections.abc import Iterable
from functools import singledispatch

from edfi_api.web.problem_details.problem import Problem

SEE_VALIDATION_ERRORS = "Data validation failed. See 'validationErrors' for details."


@singledispatch
def problem_of(error: Exception) -> Problem | None:
    """The problem to answer with; None for a bug, whose details are not disclosed."""
    return None


def bad_request(message: str) -> Problem:
    return Problem(
        status=400,
        type="bad-request",
        title="Bad Request",
        detail="The request could not be processed. See 'errors' for details.",
        errors=[message],
    )


def validation_failed(validation_errors: dict[str, list[str]]) -> Problem:
    return Problem(
        status=400,
        type="bad-request:data-validation-failed",
        title="Data Validation Failed",
        detail=SEE_VALIDATION_ERRORS,
        validation_errors=validation_errors,
    )


def not_found(detail: str) -> Problem:
    return Problem(status=404, type="not-found", title="Not Found", detail=detail)


def quoted(values: Iterable[object]) -> str:
    return ", ".join(f"'{value}'" for value in values)
