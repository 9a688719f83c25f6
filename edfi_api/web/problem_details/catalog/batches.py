"""Why a batch as a whole is refused: 400, 413 and 503."""

from typing import Any

from edfi_api.web.problem_details import http_exceptions as batches
from edfi_api.web.problem_details.catalog.registry import problem_of, validation_failed
from edfi_api.web.problem_details.problem import Problem

_UNITS = {"BATCH_BYTES": "bytes"}
_UNAVAILABLE = "The service is temporarily unable to handle the request. Retry the request later."


@problem_of.register
def batch_too_large(error: batches.BatchTooLarge) -> Problem:
    unit = _UNITS.get(error.setting, "operations")
    return Problem(
        status=413,
        type="content-too-large",
        title="Content Too Large",
        detail="The batch is larger than this server accepts.",
        errors=[f"A batch may have {error.limit} {unit} at most (MEADOWLARK_{error.setting})."],
    )


@problem_of.register
def too_many_batches(error: batches.TooManyBatches) -> Problem:
    return _unavailable({"Retry-After": "1"})


@problem_of.register
def batch_timeout(error: batches.BatchTimeout) -> Problem:
    return _unavailable({"Retry-After": "5"})


@problem_of.register
def malformed_operations(error: batches.MalformedOperations) -> Problem:
    problems = {position: problem_of(each) for position, each in error.by_position.items()}
    return validation_failed(
        {
            f"$[{position}]{path.removeprefix('$').removesuffix('.')}": messages
            for position, problem in problems.items()
            if problem is not None
            for path, messages in (problem.validation_errors or {}).items()
        }
    )


@problem_of.register
def batch_failed(error: batches.BatchFailed) -> Problem:
    members = {"failedCount": error.count, "failedOperations": list(error.failed)}
    errors = [_sentence(result) for result in error.failed]
    if error.is_temporary:
        return _unavailable({"Retry-After": "5"}, errors, members)
    return Problem(
        status=400,
        type="bad-request:batch-failed",
        title="Batch Failed",
        detail="The batch was not written. See 'failedOperations' for details.",
        errors=errors,
        members=members,
    )


def _sentence(result: dict[str, Any]) -> str:
    subject = " ".join(result[name] for name in ("op", "resource") if name in result)
    cause = f", because operation {result['causedBy']} failed" if "causedBy" in result else ""
    reason = result["problem"]["detail"] if "problem" in result else "There is no such document."
    return f"Operation {result['index']} ({subject}) would be answered with status {result['status']}{cause}: {reason}"


def _unavailable(
    headers: dict[str, str], errors: list[str] | None = None, members: dict[str, Any] | None = None
) -> Problem:
    return Problem(
        status=503,
        type="service-unavailable",
        title="Service Unavailable",
        detail=_UNAVAILABLE,
        errors=errors or [],
        headers=headers,
        members=members or {},
    )
