"""Documents that the authorization strategies do not let a client read or write: 403."""

from rest_framework.exceptions import PermissionDenied

from edfi_api.core.security import exceptions as security
from edfi_api.web.problem_details.catalog.registry import hinted, problem_of, quoted
from edfi_api.web.problem_details.hints import document_hints
from edfi_api.web.problem_details.problem import HINT, Problem

_LISTED_CLAIMS = 5

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
@hinted(document_hints.not_related)
def element_required(error: security.ElementRequired) -> Problem:
    detail = f"{_NOT_AUTHORIZED} {_required('The', error.elements)}{_hint(error.hints)}"
    return _denied(":relationships:access-denied:element-required", detail)


def _required(which: str, elements: tuple[str, ...]) -> str:
    if len(elements) == 1:
        return f"{which} '{elements[0]}' value is required for authorization purposes."
    return (
        f"{which} values of one or more of the following properties are required for authorization purposes: "
        f"{quoted(elements)}."
    )


@problem_of.register
@hinted(document_hints.not_related)
def no_relationship(error: security.NoRelationship) -> Problem:
    ids = error.education_organization_ids
    claims = f"claim{'' if len(ids) == 1 else 's'} ({claimed(ids)})"
    if len(error.elements) == 1:
        items = f"the resource item's '{error.elements[0]}' value."
    else:
        items = f"one or more of the following properties of the resource item: {quoted(error.elements)}."
    return _denied(
        "",
        _NOT_AUTHORIZED + _hint(error.hints),
        f"No relationships have been established between the caller's education organization id {claims} and {items}",
    )


def _hint(hints: tuple[str, ...]) -> str:
    return f" {HINT}{' '.join(hints)}" if hints else ""


def claimed(ids: tuple[int, ...]) -> str:
    """The first of a client's organizations."""
    if not ids:
        return "none"
    return quoted(ids[:_LISTED_CLAIMS]) + (", ..." if len(ids) > _LISTED_CLAIMS else "")


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
        values = f"{which} values of one or more of the following properties of the item: {quoted(error.elements)}."
    return _denied(
        "",
        _NOT_AUTHORIZED + _hint(error.hints),
        f"The caller is not authorized to perform the requested operation on the item based on the {values}",
    )


@problem_of.register
@hinted(document_hints.no_education_organizations)
def no_education_organizations(error: security.NoEducationOrganizations) -> Problem:
    return _denied(
        ":relationships:invalid-client:no-education-organizations",
        "There was a problem authorizing the request. The caller has not been configured correctly for accessing "
        "resources authorized by relationships.",
        f"The API client has been given permissions on a resource that uses the '{error.strategy}' authorization "
        "strategy but the client doesn't have any education organizations assigned.",
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
@hinted(document_hints.namespace_mismatch)
def namespace_mismatch(error: security.NamespaceMismatch) -> Problem:
    return _denied(
        ":namespace:access-denied:namespace-mismatch",
        f"{_NOT_AUTHORIZED} The {'existing ' if error.is_stored else ''}'Namespace' value of the data does not start "
        f"with any of the caller's associated namespace prefixes ({quoted(error.prefixes)}).",
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


@problem_of.register
def permission_denied(error: PermissionDenied) -> Problem:
    """Return the problem of a refusal by a permission class of the settings other than ours."""
    return _denied("", "Access to the resource could not be authorized.", str(error.detail))


def _denied(type_: str, detail: str, *errors: str) -> Problem:
    return Problem(
        status=403,
        type=f"security:authorization{type_}",
        title="Authorization Denied",
        detail=detail,
        errors=list(errors),
    )
