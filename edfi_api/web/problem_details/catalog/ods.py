"""The problems of Ed-Fi's older server, the ODS/API, where type or text differ from those of the other modules.

With `MEADOWLARK_COMPATIBILITY=ods` these are answered: its clients match on them. Names of members begin with a capital
letter there, as those of its classes do.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

from rest_framework.exceptions import MethodNotAllowed as MethodNotAllowedByRestFramework
from rest_framework.exceptions import UnsupportedMediaType as UnsupportedMediaTypeByRestFramework

from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.documents import exceptions as documents
from edfi_api.core.documents.paths import steps_of
from edfi_api.core.documents.violations import BrokenRule, Reason, Violation
from edfi_api.core.queries import exceptions as queries
from edfi_api.core.security import exceptions as security
from edfi_api.core.security.profiles import exceptions as profiles
from edfi_api.core.storage import exceptions as storage
from edfi_api.model.surface.json_schema import find_schema
from edfi_api.model.surface.naming import REFERENCE_SUFFIX
from edfi_api.model.surface.ods_names import in_served_names
from edfi_api.model.surface.resource import Resource
from edfi_api.web.problem_details import http_exceptions as viewsets
from edfi_api.web.problem_details.catalog import authorization, clients, conflicts, requests
from edfi_api.web.problem_details.catalog.registry import bad_request, not_found, problem_of, quoted, validation_failed
from edfi_api.web.problem_details.catalog.served_names import error_in_served_names
from edfi_api.web.problem_details.problem import MEDIA_TYPE, Problem
from references import exceptions as references

_JSON = "application/json; charset=utf-8"
_EARLY = (401, 406, 415)
_INVALID_CONSTRUCTION = "The request construction was invalid."
# A token of either server.
_TOKEN = re.compile(r"[\w.~+/-]{20,}=*", re.ASCII)
_INDEX = re.compile(r"\[(?:\d+|\*)\]")


@dataclass(frozen=True, slots=True)
class RefusedAttempt:
    """A request that was refused: a method on a resource, on one of its documents if `is_item`."""

    resource: Resource | None = None
    method: str = ""
    is_item: bool = False


_UNKNOWN = RefusedAttempt()


def media_type(problem: Problem, attempt: RefusedAttempt) -> str:
    """The Content-Type of the answer: `application/problem+json` before there is a resource, too."""
    is_early = problem.status in _EARLY or (problem.status == 404 and not attempt.is_item)
    is_early = is_early or (problem.status == 405 and attempt.method not in ("PUT", "DELETE", "POST"))
    return MEDIA_TYPE if is_early or not OdsCompatibility.PROBLEM_MEDIA_TYPE.applies else _JSON


def answered_problem(error: Exception, attempt: RefusedAttempt = _UNKNOWN) -> Problem | None:
    """The problem to answer with, in the words of the ODS/API if the setting wants them; None for a bug."""
    error = error_in_served_names(error, attempt.resource)
    if attempt.resource is not None and attempt.resource.served_names:
        attempt = replace(attempt, resource=in_served_names(attempt.resource))
    if OdsCompatibility.PROBLEM_TEXTS.applies and (problem := _problem_of(error, attempt)):
        return problem
    return problem_of(error)


@singledispatch
def _problem_of(error: Exception, attempt: RefusedAttempt) -> Problem | None:
    """The problem of the ODS/API; None where it is that of the other modules."""
    return None


# Addresses and methods.


@_problem_of.register
def resource_not_found(error: viewsets.ResourceNotFound, attempt: RefusedAttempt) -> Problem | None:
    if not attempt.is_item:
        return None
    is_delete = attempt.method == "DELETE"
    return not_found("Resource to delete was not found." if is_delete else "The specified item could not be found.")


@_problem_of.register
def document_not_found(error: storage.DocumentNotFound, attempt: RefusedAttempt) -> Problem:
    return not_found(f"Resource to {'delete' if attempt.method == 'DELETE' else 'update'} was not found.")


@_problem_of.register
def invalid_document_id(error: viewsets.InvalidDocumentId, attempt: RefusedAttempt) -> Problem | None:
    return not_found("The specified item could not be found.") if attempt.method in ("GET", "HEAD") else None


@_problem_of.register
def method_not_allowed(error: viewsets.MethodNotAllowed, attempt: RefusedAttempt) -> Problem:
    problem = requests.method_not_allowed(error)
    return replace(
        problem, errors=[text.replace("'upsert'", '"upsert"').replace("'id'", '"id"') for text in problem.errors]
    )


@_problem_of.register
def method_not_allowed_by_rest_framework(error: MethodNotAllowedByRestFramework, attempt: RefusedAttempt) -> Problem:
    problem = requests.method_not_allowed_by_rest_framework(error)
    return replace(problem, errors=[f"The endpoint of the request does not support the '{attempt.method}' method."])


@_problem_of.register(viewsets.UnsupportedMediaType)
@_problem_of.register(UnsupportedMediaTypeByRestFramework)
def unsupported_media_type(error: Exception, attempt: RefusedAttempt) -> Problem:
    return replace(requests.unsupported_media_type(viewsets.UnsupportedMediaType()), detail=_INVALID_CONSTRUCTION)


# Queries.


@_problem_of.register
def parameter_validation_failed(error: queries.ParameterValidationFailed, attempt: RefusedAttempt) -> Problem:
    return replace(requests.parameter_validation_failed(error), detail=_INVALID_CONSTRUCTION)


@_problem_of.register
def invalid_query_values(error: queries.InvalidQueryValues, attempt: RefusedAttempt) -> Problem:
    """A query field by the name of its class; a descriptor without `#` is a problem of its own."""
    for value in error.values:
        if value.reason is Reason.NO_DESCRIPTOR_URI:
            problem = validation_failed({})
            detail = f"Unable to obtain the value for '{_pascal(value.path)}Id'."
            return replace(problem, detail=detail, errors=[_no_descriptor(value.descriptor, value.value)])
    texts = {value.path: [f"The value '{value.value}' is {_invalid(value)}."] for value in error.values}
    return validation_failed(texts)


def _invalid(value: queries.InvalidQueryValue) -> str:
    if not value.value:
        return "invalid"
    return f"not valid for {_capital(value.name)}" if value.name else "not valid"


@_problem_of.register
def unknown_profile(error: profiles.UnknownProfile, attempt: RefusedAttempt) -> Problem:
    problem = problem_of(error)
    assert problem is not None  # noqa: S101  It has one.
    return replace(problem, errors=[text.replace(f" '{error.profile}'", "", 1) for text in problem.errors])


# Bodies.


@_problem_of.register
def empty_body(error: documents.EmptyBody, attempt: RefusedAttempt) -> Problem | None:
    return validation_failed({"$": ["A non-empty request body is required."]}) if attempt.is_item else None


@_problem_of.register
def malformed_json(error: documents.MalformedJson, attempt: RefusedAttempt) -> Problem:
    is_null = error.beginning.strip() == "null"
    return bad_request(
        "A non-empty request body is required." if is_null else f"{error.reason[:1].upper()}{error.reason[1:]}."
    )


@_problem_of.register
def data_validation_failed(error: documents.DataValidationFailed, attempt: RefusedAttempt) -> Problem:
    """Report what cannot be read before all else: there it is found while the body is read."""
    unreadable = [violation for violation in error.violations if violation.rule is BrokenRule.TYPE]
    texts: dict[str, list[str]] = {}
    for path, text in _worded(unreadable or error.violations, attempt.resource):
        if text not in texts.setdefault(path, []):
            texts[path].append(text)
    return validation_failed(texts)


def _worded(violations: Sequence[Violation], resource: Resource | None) -> Iterator[tuple[str, str]]:
    """Path and text of each violation; members that a reference lacks are listed at the reference."""
    incomplete: dict[str, list[str]] = {}
    for violation in violations:
        parent, _, name = violation.path.rpartition(".")
        if violation.rule is BrokenRule.REQUIRED and parent.endswith(REFERENCE_SUFFIX):
            incomplete.setdefault(parent, []).append(_capital(name))
            continue
        if violation.rule is BrokenRule.NOT_ONLY_SPACES:
            yield violation.path, f"{_pascal(violation.path)} is required and should not be left empty."
            if not _is_key(violation.path, resource):
                continue
        yield violation.path, _sentence(violation, resource)
    for path, names in incomplete.items():
        yield path, f"{_pascal(path)} is missing the following properties: {', '.join(names)}"


def _is_key(path: str, resource: Resource | None) -> bool:
    return resource is not None and path in {str(each) for each in resource.identity}


def _sentence(violation: Violation, resource: Resource | None) -> str:
    name, schema = _pascal(violation.path), _schema_at(violation.path, resource)
    own = violation.path.rpartition(".")[2]
    text = violation.message if violation.rule in (None, BrokenRule.EQUAL) else _capital(violation.message)
    match violation.rule:
        case BrokenRule.REQUIRED if schema.get("type") == "array":
            text = f"{_collection(violation.path, resource)} must have at least one item."
        case BrokenRule.TYPE if schema.get("format") in ("date", "date-time", "time"):
            text = "The supplied value is invalid."
        case BrokenRule.LENGTH if "maxLength" in schema:
            least, most = schema.get("minLength", 0), schema["maxLength"]
            text = f"{name} must be {f'between {least} and' if least > 1 else 'at most'} {most} characters in length."
        case BrokenRule.RANGE if {"minimum", "maximum"} <= schema.keys():
            text = f"{name} must be between {schema['minimum']} and {schema['maximum']}."
        case BrokenRule.DISTINCT:
            text = text.replace(f"of the {own} ", f"of the {_collection(violation.path, resource)} ")
        case BrokenRule.EQUAL if "[" not in violation.path:
            text = text.replace(" (including those higher up in the resource's data)", "")
    return text


def _schema_at(path: str, resource: Resource | None) -> Mapping[str, Any]:
    """Return what the schema of the resource has at a path of a body; nothing where it has nothing."""
    return ({} if resource is None else find_schema(resource.json_schema, steps_of(path))) or {}


def _collection(path: str, resource: Resource | None) -> str:
    """The name of a collection at the root: that of the resource, and of the member."""
    name, own = _pascal(path), "" if resource is None else resource.name.resource
    return name if path.count(".") > 1 or name.startswith(own) else own + name


@_problem_of.register
def unresolved_reference(error: references.UnresolvedReference, attempt: RefusedAttempt) -> Problem:
    if not error.descriptors:
        problem = conflicts.unresolved_reference(error)
        detail = f"The referenced '{error.documents[0].resource}' item does not exist."
        return replace(problem, detail=detail, validation_errors=None)
    return validation_failed({each.path: [_missing_descriptor(each)] for each in error.descriptors})


def _missing_descriptor(missing: references.MissingTarget) -> str:
    value = missing.value or ""
    return (
        f"{missing.resource} value '{value}' does not exist."
        if "#" in value
        else _no_descriptor(missing.resource, value)
    )


def _no_descriptor(type_: str, value: str) -> str:
    return (
        f"{type_} value '{value}' is not a valid value for use as a descriptor (a '#' is expected to delineate the "
        "namespace and code value portions)."
    )


# Conflicts with what is stored.


@_problem_of.register
def key_change_not_supported(error: storage.KeyChangeNotSupported, attempt: RefusedAttempt) -> Problem:
    name = error.resource.name.resource
    detail = f"Identifying values for the {name} data cannot be changed. Delete and recreate the item instead."
    return replace(conflicts.key_change_not_supported(error), detail=detail)


@_problem_of.register
def identity_conflict(error: storage.IdentityConflict, attempt: RefusedAttempt) -> Problem:
    names = quoted(_pascal(path) for path, _ in error.identity)
    return replace(
        conflicts.identity_conflict(error),
        type="data-conflict:non-unique-identity",
        errors=[
            f"The values supplied for properties {names} of entity '{error.resource.name.resource}' are not unique."
        ],
    )


@_problem_of.register
def dependent_item_exists(error: references.DependentItemExists, attempt: RefusedAttempt) -> Problem | None:
    if not error.resources:
        return None
    detail = (
        "The requested action cannot be performed because this item is referenced by an existing "
        f"'{error.resources[0]}' item."
    )
    return replace(conflicts.dependent_item_exists(error), detail=detail)


@_problem_of.register
def nothing_to_match(error: storage.NothingToMatch, attempt: RefusedAttempt) -> Problem | None:
    return (
        document_not_found(storage.DocumentNotFound(attempt.resource), attempt)
        if attempt.is_item and attempt.resource
        else None
    )


# Authorization.


@_problem_of.register
def no_relationship(error: security.NoRelationship, attempt: RefusedAttempt) -> Problem:
    """All values that the strategy compares are named, whichever of them is not related."""
    if error.compared:
        error = replace(error, elements=error.compared, hints=error.hints_of_compared)
    problem = authorization.no_relationship(error)
    ids = authorization.claimed(error.education_organization_ids)
    return replace(problem, errors=[text.replace(ids, ids.replace("'", "")) for text in problem.errors])


@_problem_of.register
def element_required(error: security.ElementRequired, attempt: RefusedAttempt) -> Problem | None:
    """Return the problem of the ODS/API, where a reference that does not resolve is one without a relationship."""
    if not error.are_unresolved:
        return None
    unrelated = security.NoRelationship(
        error.education_organization_ids, error.elements, error.hints, error.compared, error.hints_of_compared
    )
    return no_relationship(unrelated, attempt)


@_problem_of.register(security.ActionAccessDenied)
@_problem_of.register(security.ResourceAccessDenied)
def access_denied(
    error: security.ActionAccessDenied | security.ResourceAccessDenied, attempt: RefusedAttempt
) -> Problem:
    problem = problem_of(error)
    assert problem is not None  # noqa: S101  Both have one.
    detail = (
        "Access to the requested data could not be authorized. You do not have permissions to perform the requested "
        "operation on the data."
    )
    return replace(problem, detail=detail)


@_problem_of.register
def unusable_token(error: security.UnusableToken, attempt: RefusedAttempt) -> Problem:
    """Tokens are GUIDs there."""
    problem = clients.unusable_token(error)
    if _TOKEN.fullmatch(error.other):
        detail = "The authentication token and the token to inspect must match."
        other = "The authentication token (header) and the token to inspect in the body must match."
        return replace(problem, detail=detail, errors=[other])
    return replace(problem, errors=["The token was not present, or was not processable as a GUID value."])


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _pascal(path: str) -> str:
    """The last name of a path, as that of a class."""
    return _capital(_INDEX.sub("", path).rpartition(".")[2])
