"""What is wrong with the body of a request: 400 and 413; and why a batch as a whole is refused: 400, 413 and 503."""

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import RequestDataTooBig

from edfi_api.core.documents import exceptions as documents
from edfi_api.core.documents.violations import Violation
from edfi_api.web.problem_details import http_exceptions as batches
from edfi_api.web.problem_details import http_exceptions as viewsets
from edfi_api.web.problem_details.catalog.registry import bad_request, hinted, problem_of, validation_failed
from edfi_api.web.problem_details.hints import body_hints, request_hints
from edfi_api.web.problem_details.problem import Problem

_TOO_LARGE = "The request body is larger than this server accepts."


@problem_of.register
@hinted(body_hints.empty_body)
def empty_body(error: documents.EmptyBody) -> Problem:
    return bad_request("A non-empty request body is required.")


@problem_of.register
@hinted(body_hints.id_mismatch)
def id_mismatch(error: documents.IdMismatch) -> Problem:
    return bad_request("Request body id must match the id in the url.")


@problem_of.register
@hinted(body_hints.malformed_json)
def malformed_json(error: documents.MalformedJson) -> Problem:
    return validation_failed({"$.": [f"The request body is not a valid JSON object: {error.reason}"]})


@problem_of.register
@hinted(body_hints.duplicate_property)
def duplicate_property(error: documents.DuplicateProperty) -> Problem:
    return validation_failed({path: ["An item with the same key has already been added."] for path in error.paths})


@problem_of.register
@hinted(body_hints.data_validation_failed)
def data_validation_failed(error: documents.DataValidationFailed) -> Problem:
    return validation_failed(_by_path(error.violations))


@problem_of.register
@hinted(body_hints.client_assigned_id)
def client_assigned_id(error: documents.ClientAssignedId) -> Problem:
    return Problem(
        status=400,
        type="bad-request:data-validation-failed",
        title="Data Validation Failed",
        detail="The request data was constructed incorrectly.",
        validation_errors=_by_path(error.violations),
        errors=[
            "Resource identifiers cannot be assigned by the client. The 'id' property should not be included in the "
            "request body."
        ],
    )


@problem_of.register
@hinted(body_hints.body_too_large)
def body_too_large(error: viewsets.BodyTooLarge) -> Problem:
    return _content_too_large(_TOO_LARGE)


@problem_of.register
@hinted(request_hints.request_data_too_big)
def request_data_too_big(error: RequestDataTooBig) -> Problem:
    return _content_too_large(_TOO_LARGE)


@problem_of.register
def document_too_large(error: documents.DocumentTooLarge) -> Problem:
    return _content_too_large(
        f"The request body has more than {error.most} {error.counted}, which this server does not accept."
    )


def _content_too_large(detail: str) -> Problem:
    return Problem(status=413, type="content-too-large", title="Content Too Large", detail=detail)


def _by_path(violations: Iterable[Violation]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for violation in violations:
        messages = found.setdefault(violation.path, [])
        if violation.message not in messages:
            messages.append(violation.message)
    return found


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
