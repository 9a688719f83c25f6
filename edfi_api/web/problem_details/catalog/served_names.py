"""Errors about bodies with the names that clients know, where documents are stored under others."""

from collections.abc import Iterable
from dataclasses import replace

from edfi_api.core.documents.exceptions import ClientAssignedId, DataValidationFailed, HiddenItemsSent
from edfi_api.core.documents.member_names import OtherNames
from edfi_api.core.documents.violations import BrokenRule, Violation
from edfi_api.core.storage.exceptions import IdentityConflict, KeyChangeContradicts
from edfi_api.model.surface.resource import Resource
from references.exceptions import MissingTarget, UnresolvedReference


def error_in_served_names(error: Exception, resource: Resource | None) -> Exception:
    """The error about a body of this resource with the paths that clients know; or the same error."""
    if isinstance(error, KeyChangeContradicts):
        resource = error.resource
    if resource is None or not resource.served_names:
        return error
    names = OtherNames.of(resource.served_names)
    match error:
        case DataValidationFailed() | ClientAssignedId() | KeyChangeContradicts():
            return replace(error, violations=[renamed(each, names) for each in error.violations])
        case HiddenItemsSent():
            return replace(error, paths=[names.path(path) for path in error.paths])
        case IdentityConflict():
            return replace(error, identity=[(names.path(path), value) for path, value in error.identity])
        case UnresolvedReference():
            documents, descriptors = _renamed(error.documents, names), _renamed(error.descriptors, names)
            return replace(error, documents=documents, descriptors=descriptors)
    return error


def renamed(violation: Violation, names: OtherNames) -> Violation:
    """The violation at another path. Its message may begin with the name of the member."""
    if violation.rule is BrokenRule.SPELLING:
        return violation
    path = names.path(violation.path)
    own, other = violation.path.rpartition(".")[2], path.rpartition(".")[2]
    message = violation.message
    if own != other and message.startswith(own):
        message = other + message.removeprefix(own)
    return replace(violation, path=path, message=message)


def _renamed(missing: Iterable[MissingTarget], names: OtherNames) -> list[MissingTarget]:
    return [replace(each, path=names.path(each.path)) for each in missing]
