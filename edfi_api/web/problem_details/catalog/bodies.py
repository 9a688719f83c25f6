"""What is wrong with the body of a request: 400 and 413."""

from collections.abc import Iterable

from django.core.exceptions import RequestDataTooBig

from edfi_api.core.documents import exceptions as documents
from edfi_api.core.documents.violations import Violation
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
