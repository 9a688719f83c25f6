"""What stands against a write in the documents that are stored: 400, 404, 409 and 412."""

from edfi_api.common import addresses
from edfi_api.core.storage import exceptions as storage
from edfi_api.web.problem_details.catalog.registry import SEE_VALIDATION_ERRORS, hinted, not_found, problem_of
from edfi_api.web.problem_details.hints import document_hints, request_hints
from edfi_api.web.problem_details.problem import Problem
from references import exceptions as references


@problem_of.register
@hinted(document_hints.key_change_not_supported)
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
        ]
        or ["The client may not read what would contradict itself."],
    )


@problem_of.register
@hinted(request_hints.not_found)
def document_not_found(error: storage.DocumentNotFound) -> Problem:
    return not_found("Resource to update was not found")


@problem_of.register
@hinted(document_hints.unresolved_reference)
def unresolved_reference(error: references.UnresolvedReference) -> Problem:
    """A missing descriptor is a mistake in the body, any other missing target a conflict with what is stored. With
    `MEADOWLARK_COMPATIBILITY=ods` the function of this name in `ods.py` has the text."""
    found = {missing.path: [_missing_descriptor(missing)] for missing in error.descriptors} | {
        missing.path: [f"The referenced {missing.resource} item does not exist."] for missing in error.documents
    }
    if error.descriptors:
        return Problem(
            status=400,
            type="bad-request",
            title="Bad Request",
            detail=SEE_VALIDATION_ERRORS,
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
    outcome = f"is not a valid {missing.resource}." if missing.is_of_another_type else "does not exist."
    return f"{missing.resource} value '{(missing.value or '').lower()}' {outcome}"


@problem_of.register
@hinted(document_hints.dependent_item_exists)
def dependent_item_exists(error: references.DependentItemExists) -> Problem:
    """The referrers are not listed: the `Link` header leads to them, as far as the client may read them, and the log
    has their ids. Types of which it may read none are not named."""
    names = f"{', '.join(error.resources)} " if error.resources else ""
    return Problem(
        status=409,
        type="data-conflict:dependent-item-exists",
        title="Dependent Item Exists",
        detail=f"The requested action cannot be performed because this item is referenced by existing {names}item(s).",
        related=f"{addresses.RELATIONS}{error.path}" if error.path else "",
        log_facts={
            "referrers": ", ".join(f"{each.project}.{each.resource} {each.document_uuid}" for each in error.referrers)
        },
    )


@problem_of.register
@hinted(document_hints.identity_conflict)
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


@problem_of.register
@hinted(document_hints.version_has_changed)
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
@hinted(document_hints.matching_version_exists)
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
