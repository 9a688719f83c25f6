"""What is wrong with the path, the query string or the headers of a request: 400, 404, 405, 406 and 415."""

from django.core.exceptions import BadRequest, DisallowedHost, SuspiciousOperation
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from rest_framework.exceptions import MethodNotAllowed

from edfi_api.common import request_body
from edfi_api.core.documents.violations import Reason
from edfi_api.core.queries import exceptions as queries
from edfi_api.web.problem_details import http_exceptions as viewsets
from edfi_api.web.problem_details.catalog.registry import bad_request, hinted, not_found, problem_of, validation_failed
from edfi_api.web.problem_details.hints import request_hints
from edfi_api.web.problem_details.problem import Problem


@problem_of.register
@hinted(request_hints.invalid_document_id)
def invalid_document_id(error: viewsets.InvalidDocumentId) -> Problem:
    return validation_failed({"$.id": [f"The value '{error.segment}' is not valid."]})


@problem_of.register
@hinted(request_hints.parameter_validation_failed)
def parameter_validation_failed(error: queries.ParameterValidationFailed) -> Problem:
    return Problem(
        status=400,
        type="bad-request:parameter-validation-failed",
        title="Parameter Validation Failed",
        detail="Parameters supplied to the request were invalid.",
        errors=error.messages,
    )


@problem_of.register
def index_required(error: queries.IndexRequired) -> Problem:
    return parameter_validation_failed(
        queries.ParameterValidationFailed(
            [
                f"Other conditions have to leave at most {error.most:,} documents, since no index answers the whole "
                f"query. An operator can create it: manage.py create_query_index {error.index}"
            ]
        )
    )


@problem_of.register
@hinted(request_hints.unknown_query_field)
def unknown_query_field(error: queries.UnknownQueryField) -> Problem:
    return bad_request(f"The query field '{error.name}' is not valid for this resource.")


@problem_of.register
@hinted(request_hints.not_for_change_queries)
def not_for_change_queries(error: queries.NotForChangeQueries) -> Problem:
    return bad_request(f"The query field '{error.name}' is not valid for this Change Query endpoint.")


@problem_of.register
@hinted(request_hints.invalid_query_values)
def invalid_query_values(error: queries.InvalidQueryValues) -> Problem:
    texts: dict[str, list[str]] = {}
    for value in error.values:
        texts.setdefault(value.path, []).append(_invalid_value(value))
    return validation_failed(texts)


def _invalid_value(found: queries.InvalidQueryValue) -> str:
    match found.reason:
        case Reason.AMBIGUOUS_DATE:
            return f"The value '{found.value}' is ambiguous for {found.name}; the form yyyy-MM-dd is not."
        case Reason.OTHER_FORM:
            return f"The value '{found.value}' of {found.name} is not in the form in which it is stored."
        case Reason.NO_DESCRIPTOR_URI:
            return f"The value '{found.value}' is not valid for {found.name}: it is not the URI of a descriptor."
        case Reason.UNKNOWN_DESCRIPTOR:
            return f"{found.descriptor} value '{found.value.lower()}' does not exist."
    return f"The value '{found.value}' is not valid for {found.name}."


@problem_of.register(viewsets.ResourceNotFound)
@problem_of.register(Http404)
@hinted(request_hints.not_found)
def resource_not_found(error: Exception) -> Problem:
    return not_found("The specified data could not be found.")


@problem_of.register
@hinted(request_hints.method_not_allowed)
def method_not_allowed(error: viewsets.MethodNotAllowed) -> Problem:
    return Problem(
        status=405,
        type="method-not-allowed",
        title="Method Not Allowed",
        detail="The request construction was invalid.",
        errors=[_method_hint(error)],
        headers={"Allow": ", ".join(error.allowed)},
    )


@problem_of.register
def method_not_allowed_by_rest_framework(error: MethodNotAllowed) -> Problem:
    """Raised by views without documents. Django REST framework itself adds the header `Allow`."""
    return Problem(
        status=405,
        type="method-not-allowed",
        title="Method Not Allowed",
        detail="The request construction was invalid.",
        errors=[str(error.detail)],
    )


def _method_hint(error: viewsets.MethodNotAllowed) -> str:
    match error.method, error.is_item:
        case "DELETE", False:
            return (
                "Resource collections cannot be deleted. To delete a specific item, use DELETE and include the 'id' "
                "in the route."
            )
        case "PUT", False:
            return (
                "Resource collections cannot be replaced. To 'upsert' an item in the collection, use POST. To update "
                "a specific item, use PUT and include the 'id' in the route."
            )
        case "POST", True:
            return (
                "Resource items can only be updated using PUT. To 'upsert' an item in the resource collection using "
                "POST, remove the 'id' from the route."
            )
    return f"The endpoint of the request does not support the '{error.method}' method."


@problem_of.register
@hinted(request_hints.unsupported_media_type)
def unsupported_media_type(error: viewsets.UnsupportedMediaType) -> Problem:
    detail = "The value specified in the 'Content-Type' header is not supported by this host."
    return Problem(
        status=415, type="unsupported-media-type", title="Unsupported Media Type", detail=detail, errors=[detail]
    )


@problem_of.register
def unsupported_coding(error: request_body.UnsupportedCoding) -> Problem:
    return _unreadable_header(
        "Content-Encoding", f"Content-Encoding: {error.coding[:100]} is not one of: {request_body.ACCEPTED_CODINGS}."
    )


@problem_of.register
def unsupported_charset(error: request_body.UnsupportedCharset) -> Problem:
    return _unreadable_header(
        "Content-Type", f"The charset {error.charset[:100]} is not read; send UTF-8, the encoding of JSON."
    )


def _unreadable_header(name: str, error: str) -> Problem:
    return Problem(
        status=415,
        type="unsupported-media-type",
        title="Unsupported Media Type",
        detail=f"The value specified in the '{name}' header is not supported by this host.",
        errors=[error],
        headers={"Accept-Encoding": request_body.ACCEPTED_CODINGS},
    )


@problem_of.register
def unreadable_body(error: request_body.BodyUnreadable) -> Problem:
    return bad_request(f"The body cannot be read: {error.reason}")


@problem_of.register
@hinted(request_hints.disallowed_host)
def disallowed_host(error: DisallowedHost) -> Problem:
    if request_hints.is_malformed_host(error):
        return bad_request("The host that the request names is malformed.")
    return bad_request("The host that the request names is not one by which this server answers.")


@problem_of.register(SuspiciousOperation)
@problem_of.register(BadRequest)
@problem_of.register(MultiPartParserError)
def suspicious_operation(error: Exception) -> Problem:
    return bad_request("The request could not be understood.")
