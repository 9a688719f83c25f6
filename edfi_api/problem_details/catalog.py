"""The error contract: exception → status, type URN, title, detail.

Ed-Fi clients match on these texts. See meadowlark/docs/contract.md#problem-details.
"""

from collections.abc import Iterable
from functools import singledispatch

from django.core.exceptions import BadRequest, DisallowedHost, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, InternalError, OperationalError
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from rest_framework.exceptions import MethodNotAllowed

from edfi_api import addresses
from edfi_api.documents import exceptions as documents
from edfi_api.documents.violations import Violation
from edfi_api.problem_details import http_exceptions as viewsets
from edfi_api.problem_details.problem import Problem
from edfi_api.queries import exceptions as queries
from edfi_api.security import exceptions as security
from edfi_api.storage import exceptions as storage
from references import exceptions as references

_SEE_ERRORS = "The request could not be processed. See 'errors' for details."
_SEE_VALIDATION_ERRORS = "Data validation failed. See 'validationErrors' for details."
_LISTED_CLAIMS = 5
_RETRY_AFTER = {"Retry-After": "5"}


@singledispatch
def problem_of(error: Exception) -> Problem | None:
    """The problem to answer with; None for a bug, whose details are not disclosed."""
    return None


# --- 400: the body ----------------------------------------------------------------------------------------------------


@problem_of.register
def empty_body(error: documents.EmptyBody) -> Problem:
    return _bad_request("A non-empty request body is required.")


@problem_of.register
def id_mismatch(error: documents.IdMismatch) -> Problem:
    return _bad_request("Request body id must match the id in the url.")


@problem_of.register
def malformed_json(error: documents.MalformedJson) -> Problem:
    return _validation_failed({"$.": [f"The request body is not a valid JSON object: {error.reason}"]})


@problem_of.register
def duplicate_property(error: documents.DuplicateProperty) -> Problem:
    return _validation_failed({path: ["An item with the same key has already been added."] for path in error.paths})


@problem_of.register
def invalid_document_id(error: viewsets.InvalidDocumentId) -> Problem:
    return _validation_failed({"$.id": [f"The value '{error.segment}' is not valid."]})


@problem_of.register
def data_validation_failed(error: documents.DataValidationFailed) -> Problem:
    return _validation_failed(_by_path(error.violations))


@problem_of.register
def client_assigned_id(error: documents.ClientAssignedId) -> Problem:
    return Problem(
        status=400,
        type="bad-request:data-validation-failed",
        title="Data Validation Failed",
        detail="The request data was constructed incorrectly.",
        errors=[
            "Resource identifiers cannot be assigned by the client. The 'id' property should not be included in the "
            "request body."
        ],
    )


@problem_of.register
def key_change_not_supported(error: storage.KeyChangeNotSupported) -> Problem:
    name = error.resource.name
    if error.resource.is_descriptor:
        detail = (
            f"Identity of resource '{name.project}.{name.resource}' cannot be changed. Descriptor identity fields "
            "(Namespace, CodeValue) are immutable on PUT."
        )
    else:
        detail = (
            f"Identifying values for the {name.resource} resource cannot be changed. Delete and recreate the "
            "resource item instead."
        )
    return Problem(
        status=400,
        type="bad-request:data-validation-failed:key-change-not-supported",
        title="Key Change Not Supported",
        detail=detail,
    )


@problem_of.register
def key_change_contradicts(error: storage.KeyChangeContradicts) -> Problem:
    """Ed-Fi does not define this answer; it names the conflicting document by its natural key."""
    return Problem(
        status=400,
        type="bad-request:data-validation-failed",
        title="Data Validation Failed",
        detail="The identifying values cannot be changed, because an item that refers to this one would contradict "
        "itself. See 'errors' for details.",
        errors=[
            f"{f'{error.resource.name.resource} {error.natural_key}'.rstrip()}: {violation.path}: {violation.message}"
            for violation in error.violations
        ],
    )


# --- 400: the query string --------------------------------------------------------------------------------------------


@problem_of.register
def parameter_validation_failed(error: queries.ParameterValidationFailed) -> Problem:
    return Problem(
        status=400,
        type="bad-request:parameter-validation-failed",
        title="Parameter Validation Failed",
        detail="Parameters supplied to the request were invalid.",
        errors=error.messages,
    )


@problem_of.register
def unknown_query_field(error: queries.UnknownQueryField) -> Problem:
    return _bad_request(f"The query field '{error.name}' is not valid for this resource.")


@problem_of.register
def not_for_change_queries(error: queries.NotForChangeQueries) -> Problem:
    return _bad_request(f"The query field '{error.name}' is not valid for this Change Query endpoint.")


@problem_of.register
def invalid_query_values(error: queries.InvalidQueryValues) -> Problem:
    return _validation_failed(
        {value.path: [f"The value '{value.value}' is not valid for {value.name}."] for value in error.values}
    )


# --- 401 --------------------------------------------------------------------------------------------------------------


@problem_of.register
def authentication_failed(error: security.AuthenticationFailed) -> Problem:
    return Problem(
        status=401,
        type="security:authentication",
        title="Authentication Failed",
        detail="The caller could not be authenticated.",
        validation_errors=None,
        errors=[error.reason],
        headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
    )


@problem_of.register
def claim_set_not_found(error: security.ClaimSetNotFound) -> Problem:
    return Problem(
        status=401,
        type="unauthorized",
        title="Unauthorized",
        detail="The client's ClaimSet was not found.",
        validation_errors=None,
    )


@problem_of.register
def unusable_token(error: security.UnusableToken) -> Problem:
    return Problem(
        status=400,
        type="bad-request",
        title="Bad Request",
        detail="An invalid token was provided",
        errors=[error.reason],
    )


# --- 403: claim sets --------------------------------------------------------------------------------------------------


@problem_of.register
def resource_access_denied(error: security.ResourceAccessDenied) -> Problem:
    return _action_denied("resource")


@problem_of.register
def action_access_denied(error: security.ActionAccessDenied) -> Problem:
    return _action_denied(
        "action",
        f"The API client's assigned claim set (currently '{error.claim_set_name}') must grant permission of the "
        f"'{error.action}' action on one of the following resource claims: {error.resource_name}",
    )


def _action_denied(what: str, *errors: str) -> Problem:
    return Problem(
        status=403,
        type=f"security:authorization:access-denied:{what}",
        title="Authorization Denied",
        detail="Access to the resource could not be authorized.",
        errors=list(errors),
    )


# --- 403 and 500: documents -------------------------------------------------------------------------------------------

_NOT_AUTHORIZED = "Access to the requested data could not be authorized."
_INACCESSIBLE = "The existing resource item is inaccessible to clients using the '{}' authorization strategy"


@problem_of.register
def element_uninitialized(error: security.ElementUninitialized) -> Problem:
    return _denied(
        ":relationships:invalid-data:element-uninitialized",
        f"{_NOT_AUTHORIZED} {_required('The existing', error.elements)}{_hint(error.hints)}",
        *(f"{_INACCESSIBLE.format(strategy)}." for strategy in error.strategies),
    )


@problem_of.register
def element_required(error: security.ElementRequired) -> Problem:
    detail = f"{_NOT_AUTHORIZED} {_required('The', error.elements)}{_hint(error.hints)}"
    return _denied(":relationships:access-denied:element-required", detail)


def _required(which: str, elements: tuple[str, ...]) -> str:
    if len(elements) == 1:
        return f"{which} '{elements[0]}' value is required for authorization purposes."
    return (
        f"{which} values of one or more of the following properties are required for authorization purposes: "
        f"{_quoted(elements)}."
    )


@problem_of.register
def no_relationship(error: security.NoRelationship) -> Problem:
    ids = error.education_organization_ids
    claims = f"claim{'' if len(ids) == 1 else 's'} ({_claimed(ids)})"
    if len(error.elements) == 1:
        items = f"the resource item's '{error.elements[0]}' value."
    else:
        items = f"one or more of the following properties of the resource item: {_quoted(error.elements)}."
    return _denied(
        "",
        _NOT_AUTHORIZED + _hint(error.hints),
        f"No relationships have been established between the caller's education organization id {claims} and {items}",
    )


def _hint(hints: tuple[str, ...]) -> str:
    return f" Hint: {' '.join(hints)}" if hints else ""


def _claimed(ids: tuple[int, ...]) -> str:
    if not ids:
        return "none"
    return _quoted(ids[:_LISTED_CLAIMS]) + (", ..." if len(ids) > _LISTED_CLAIMS else "")


def _quoted(values: Iterable[object]) -> str:
    return ", ".join(f"'{value}'" for value in values)


@problem_of.register
def view_element_uninitialized(error: security.ViewElementUninitialized) -> Problem:
    return _denied(
        ":custom-view:invalid-data:element-uninitialized",
        f"{_NOT_AUTHORIZED} {_required('The existing', error.elements)}{_hint(error.hints)}",
        f"{_INACCESSIBLE.format(error.strategy)}.",
    )


@problem_of.register
def view_element_required(error: security.ViewElementRequired) -> Problem:
    detail = f"{_NOT_AUTHORIZED} {_required('The', error.elements)}{_hint(error.hints)}"
    return _denied(":custom-view:access-denied:element-required", detail)


@problem_of.register
def not_in_view(error: security.NotInView) -> Problem:
    which = "existing" if error.is_stored else "proposed"
    if len(error.elements) == 1:
        values = f"{which} value of the '{error.elements[0]}' property of the item."
    else:
        values = f"{which} values of one or more of the following properties of the item: {_quoted(error.elements)}."
    return _denied(
        "",
        _NOT_AUTHORIZED + _hint(error.hints),
        f"The caller is not authorized to perform the requested operation on the item based on the {values}",
    )


@problem_of.register
def no_namespace_prefixes(error: security.NoNamespacePrefixes) -> Problem:
    return _denied(
        ":namespace:invalid-client:no-namespaces",
        "There was a problem authorizing the request. The caller has not been configured correctly for accessing "
        "resources authorized by Namespace.",
        "The API client has been given permissions on a resource that uses the 'NamespaceBased' authorization strategy "
        "but the client doesn't have any namespace prefixes assigned.",
    )


@problem_of.register
def namespace_uninitialized(error: security.NamespaceUninitialized) -> Problem:
    return _denied(
        ":namespace:invalid-data:namespace-uninitialized",
        f"{_NOT_AUTHORIZED} The existing 'Namespace' value has not been assigned but is required for authorization "
        "purposes.",
        f"{_INACCESSIBLE.format('NamespaceBased')} because the 'Namespace' value has not been assigned.",
    )


@problem_of.register
def namespace_required(error: security.NamespaceRequired) -> Problem:
    return _denied(
        ":namespace:access-denied:namespace-required",
        f"{_NOT_AUTHORIZED} The 'Namespace' value has not been assigned but is required for authorization purposes.",
    )


@problem_of.register
def namespace_mismatch(error: security.NamespaceMismatch) -> Problem:
    return _denied(
        ":namespace:access-denied:namespace-mismatch",
        f"{_NOT_AUTHORIZED} The {'existing ' if error.is_stored else ''}'Namespace' value of the data does not start "
        f"with any of the caller's associated namespace prefixes ({_quoted(error.prefixes)}).",
    )


@problem_of.register
def ownership_uninitialized(error: security.OwnershipUninitialized) -> Problem:
    return _denied(
        ":ownership:invalid-data:ownership-uninitialized",
        f"{_NOT_AUTHORIZED} The item is not owned by the caller.",
        "The existing resource item has no 'CreatedByOwnershipTokenId' value assigned and thus will never be "
        "accessible to clients using the 'OwnershipBased' authorization strategy.",
    )


@problem_of.register
def ownership_mismatch(error: security.OwnershipMismatch) -> Problem:
    return _denied(
        ":ownership:access-denied:ownership-mismatch", f"{_NOT_AUTHORIZED} The item is not owned by the caller."
    )


def _denied(type_: str, detail: str, *errors: str) -> Problem:
    return Problem(
        status=403,
        type=f"security:authorization{type_}",
        title="Authorization Denied",
        detail=detail,
        errors=list(errors),
    )


@problem_of.register
def unknown_strategies(error: security.UnknownStrategies) -> Problem:
    return _security_configuration(
        "Could not find authorization strategy implementations for the following strategy names: "
        f"{_quoted(error.names)}."
    )


@problem_of.register
def strategy_not_applicable(error: security.StrategyNotApplicable) -> Problem:
    collections = (
        " Collection-level Namespace paths are not eligible for namespace authorization."
        if error.elements == "Namespace"
        else ""
    )
    return _security_configuration(
        f"The resource '{error.resource_name}' is configured with the '{error.strategy}' authorization strategy, but "
        f"no {error.elements} securable element resolves to a root table column.{collections}"
    )


# --- 404 --------------------------------------------------------------------------------------------------------------


@problem_of.register(viewsets.ResourceNotFound)
@problem_of.register(Http404)
def resource_not_found(error: Exception) -> Problem:
    return _not_found("The specified data could not be found.")


@problem_of.register
def document_not_found(error: storage.DocumentNotFound) -> Problem:
    return _not_found("Resource to update was not found")


# --- 405, 413, 415 ----------------------------------------------------------------------------------------------------


@problem_of.register
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


@problem_of.register(viewsets.BodyTooLarge)
@problem_of.register(RequestDataTooBig)
def body_too_large(error: Exception) -> Problem:
    detail = "The request body is larger than this server accepts."
    return Problem(status=413, type="content-too-large", title="Content Too Large", detail=detail)


@problem_of.register
def document_too_large(error: documents.DocumentTooLarge) -> Problem:
    detail = f"The request body has more than {error.most} {error.counted}, which this server does not accept."
    return Problem(status=413, type="content-too-large", title="Content Too Large", detail=detail)


@problem_of.register
def unsupported_media_type(error: viewsets.UnsupportedMediaType) -> Problem:
    detail = "The value specified in the 'Content-Type' header is not supported by this host."
    return Problem(
        status=415, type="unsupported-media-type", title="Unsupported Media Type", detail=detail, errors=[detail]
    )


@problem_of.register
def disallowed_host(error: DisallowedHost) -> Problem:
    return _bad_request("The host that the request names is not one by which this server answers.")


@problem_of.register(SuspiciousOperation)
@problem_of.register(BadRequest)
@problem_of.register(MultiPartParserError)
def suspicious_operation(error: Exception) -> Problem:
    return _bad_request("The request could not be understood.")


# --- 400, 406, 415: API profiles -------------------------------------------------------------------------------------


@problem_of.register
def malformed_profile_media_type(error: viewsets.MalformedProfileMediaType) -> Problem:
    return _invalid_profile_usage(400, "The format of the profile-based content type header was invalid.")


@problem_of.register
def unknown_profile(error: viewsets.UnknownProfile) -> Problem:
    return _invalid_profile_usage(
        406 if error.header == "Accept" else 415,
        f"The profile '{error.profile}' specified by the content type in the '{error.header}' header is not supported "
        "by this host.",
    )


def _invalid_profile_usage(status: int, message: str) -> Problem:
    return Problem(
        status=status,
        type="profile:invalid-profile-usage",
        title="Invalid Profile Usage",
        detail="The request construction was invalid with respect to usage of a data policy.",
        validation_errors=None,
        errors=[message],
    )


# --- 400 and 409: references and identities ---------------------------------------------------------------------------


@problem_of.register
def unresolved_reference(error: references.UnresolvedReference) -> Problem:
    found = {missing.path: [_missing_descriptor(missing)] for missing in error.descriptors} | {
        missing.path: [f"The referenced {missing.resource} item does not exist."] for missing in error.documents
    }
    if error.descriptors:
        return Problem(
            status=400,
            type="bad-request",
            title="Bad Request",
            detail=_SEE_VALIDATION_ERRORS,
            validation_errors=found,
        )
    return Problem(
        status=409,
        type="data-conflict:unresolved-reference",
        title="Unresolved Reference",
        detail="One or more references could not be resolved. See 'validationErrors' for details.",
        validation_errors=found,
    )


def _missing_descriptor(missing: references.MissingTarget) -> str:
    fate = f"is not a valid {missing.resource}." if missing.is_of_another_type else "does not exist."
    return f"{missing.resource} value '{(missing.value or '').lower()}' {fate}"


@problem_of.register
def dependent_item_exists(error: references.DependentItemExists) -> Problem:
    """The referrers are not listed: the `Link` header leads to them, as far as the client may read them, and the log
    has their ids."""
    names = ", ".join(error.resources)
    return Problem(
        status=409,
        type="data-conflict:dependent-item-exists",
        title="Dependent Item Exists",
        detail=f"The requested action cannot be performed because this item is referenced by existing {names} item(s).",
        related=f"{addresses.RELATIONS}{error.path}" if error.path else "",
        log_facts={
            "referrers": ", ".join(f"{each.project}.{each.resource} {each.document_uuid}" for each in error.referrers)
        },
    )


@problem_of.register
def identity_conflict(error: storage.IdentityConflict) -> Problem:
    action = "create a new" if error.is_new else "update a"
    pairs = ",".join(f"({path.rsplit('.', 1)[-1]} = {value})" for path, value in error.identity)
    return Problem(
        status=409,
        type="identity-conflict",
        title="Identifying Values Are Not Unique",
        detail="The identifying value(s) of the item are the same as another item that already exists.",
        errors=[
            f"A natural key conflict occurred when attempting to {action} resource {error.resource.name.resource} "
            f"with a duplicate key. The duplicate keys and values are {pairs}"
        ],
    )


# --- 412 --------------------------------------------------------------------------------------------------------------


@problem_of.register
def version_has_changed(error: storage.VersionHasChanged) -> Problem:
    return Problem(
        status=412,
        type="optimistic-lock-failed",
        title="Optimistic Lock Failed",
        detail="The item has been modified by another user.",
        errors=[
            "The resource item's etag value does not match what was specified in the 'If-Match' request header "
            "indicating that it has been modified by another client since it was last retrieved."
        ],
    )


@problem_of.register
def nothing_to_match(error: storage.NothingToMatch) -> Problem:
    return Problem(
        status=412,
        type="optimistic-lock-failed",
        title="Optimistic Lock Failed",
        detail="The If-Match precondition failed because the resource does not exist.",
        errors=[
            "The 'If-Match' request header requires a current representation of the resource, but none exists. Do not "
            "retry with If-Match; create the resource first, or omit If-Match."
        ],
    )


@problem_of.register
def matching_version_exists(error: storage.MatchingVersionExists) -> Problem:
    return Problem(
        status=412,
        type="precondition-failed:if-none-match",
        title="If-None-Match Precondition Failed",
        detail="The If-None-Match precondition failed because a current representation of the resource matched the "
        "request header.",
        errors=[
            "The 'If-None-Match' request header requires that no current representation match the supplied value, but "
            "a matching representation exists."
        ],
    )


# --- 429 --------------------------------------------------------------------------------------------------------------


@problem_of.register
def too_many_requests(error: security.TooManyRequests) -> Problem:
    return Problem(
        status=429,
        type="too-many-requests",
        title="Too Many Requests",
        detail="The number of allowed requests has been exceeded. Retry the request later.",
        headers={"Retry-After": str(error.retry_after)},
    )


# --- 500: security is configured wrongly ------------------------------------------------------------------------------


@problem_of.register
def claim_set_vanished(error: security.ClaimSetVanished) -> Problem:
    return _security_configuration("No security metadata has been configured for this resource.")


@problem_of.register
def strategies_not_defined(error: security.StrategiesNotDefined) -> Problem:
    return _security_configuration(
        f"No authorization strategies were defined for the requested action '{error.action}' against resource URIs "
        f"['{error.resource_claim_uri}'] matched by the caller's claim '{error.granted_claim_uri}'."
    )


def _security_configuration(message: str) -> Problem:
    return Problem(
        status=500,
        type="system:configuration:security",
        title="Security Configuration Error",
        detail="A security configuration problem was detected. The request cannot be authorized.",
        errors=[message],
    )


# --- 503 --------------------------------------------------------------------------------------------------------------


@problem_of.register(storage.TooMuchContention)
@problem_of.register(OperationalError)
@problem_of.register(InterfaceError)
def too_much_contention(error: Exception) -> Problem:
    return _UNAVAILABLE


@problem_of.register
def internal_error(error: InternalError) -> Problem | None:
    return _UNAVAILABLE if storage.is_outage(error) else None


_UNAVAILABLE = Problem(
    status=503,
    type="service-unavailable",
    title="Service Unavailable",
    detail="The service is temporarily unable to handle the request. Retry the request later.",
    headers=_RETRY_AFTER,
)
SYSTEM_ERROR = Problem(status=500, type="system", title="System Error", detail="An unexpected problem has occurred.")


def _bad_request(message: str) -> Problem:
    return Problem(status=400, type="bad-request", title="Bad Request", detail=_SEE_ERRORS, errors=[message])


def _validation_failed(validation_errors: dict[str, list[str]]) -> Problem:
    return Problem(
        status=400,
        type="bad-request:data-validation-failed",
        title="Data Validation Failed",
        detail=_SEE_VALIDATION_ERRORS,
        validation_errors=validation_errors,
    )


def _not_found(detail: str) -> Problem:
    return Problem(status=404, type="not-found", title="Not Found", detail=detail)


def _by_path(violations: Iterable[Violation]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for violation in violations:
        messages = found.setdefault(violation.path, [])
        if violation.message not in messages:
            messages.append(violation.message)
    return found
