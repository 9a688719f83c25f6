"""The entry points of the catalog, and the forms that several errors have."""

from collections.abc import Callable, Iterable
from functools import singledispatch
from itertools import islice
from typing import Any, TypeVar

from edfi_api.web.problem_details.hints.attempted_request import AttemptedRequest, cut
from edfi_api.web.problem_details.problem import Problem

_MOST_HINTS = 10
_LONGEST_HINT = 1200

# Yields the hints for a client whose attempt was refused with this error; mostly one, none if the problem says it all.
Hints = Callable[[Any, AttemptedRequest], Iterable[str]]
_Text = TypeVar("_Text", bound=Callable[..., Any])

SEE_VALIDATION_ERRORS = "Data validation failed. See 'validationErrors' for details."


@singledispatch
def problem_of(error: Exception) -> Problem | None:
    """The problem to answer with; None for a bug, whose details are not disclosed."""
    return None


def hinted(hints: Hints) -> Callable[[_Text], _Text]:
    """Give a text of the catalog its hints."""

    def add(text: _Text) -> _Text:
        text.hints = hints  # type: ignore[attr-defined]
        return text

    return add


def hints_of(error: Exception, attempt: AttemptedRequest) -> list[str]:
    """The hints for a client whose attempt was refused with this error."""
    hints: Hints | None = getattr(problem_of.dispatch(type(error)), "hints", None)
    return [] if hints is None else [cut(hint, _LONGEST_HINT) for hint in islice(hints(error, attempt), _MOST_HINTS)]


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
