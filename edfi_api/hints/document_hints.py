"""Hints about what is stored, and who may do what with it: references, descriptors, keys, versions, authorization."""

from collections.abc import Iterable, Iterator
from typing import Any

from edfi_api import addresses
from edfi_api.hints.attempted_request import AttemptedRequest, hints_for, listed, shown, without_repetition
from edfi_api.hints.body_hints import value_at
from edfi_api.hints.near_descriptors import readable_near_descriptors
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.security import exceptions as security
from edfi_api.storage import exceptions as storage
from references import exceptions as references

# So many values are compared with those of stored descriptors.
_MOST_COMPARED = 3
_LINK = "link"
_TOKEN_INFO = f"POST /{addresses.INTROSPECTION} lists what the token permits."


@hints_for.register
def unresolved_reference(error: references.UnresolvedReference, attempt: AttemptedRequest) -> Iterator[str]:
    for number, missing in enumerate(error.descriptors):
        yield _of_descriptor(missing, attempt, is_compared=number < _MOST_COMPARED)
    for missing in error.documents:
        resource = _resource(missing.resource, attempt)
        where = "" if resource is None else f" by POST to {resource.url_path}"
        sent = _key_sent(value_at(attempt.document, missing.path))
        yield f"{missing.path}: there is no {missing.resource}{sent}. Correct the key, or send the item first{where}."


def _of_descriptor(missing: references.MissingTarget, attempt: AttemptedRequest, is_compared: bool) -> str:
    uri, resource = missing.value or "", _resource(missing.resource, attempt)
    if resource is None:
        return f"{missing.path}: {shown(uri)} was sent."
    form = "" if "#" in uri else f" A descriptor is written as its URI, uri://NAMESPACE/{missing.resource}#CODE VALUE."
    near = readable_near_descriptors(uri, resource, attempt) if is_compared else []
    meant = f" Did you mean {' or '.join(map(shown, near))}?" if near else ""
    return f"{missing.path}: {shown(uri)} was sent.{form}{meant} GET {resource.url_path} lists those that exist."


def _key_sent(sent: Any) -> str:
    """` with studentUniqueId "604899"`."""
    if not isinstance(sent, dict):
        return ""
    pairs = [f"{name} {shown(value)}" for name, value in sent.items() if name != _LINK]
    return f" with {listed(pairs)}" if pairs else ""


def _resource(name: str, attempt: AttemptedRequest) -> Resource | None:
    """The resource of this name, of the project of the request before others."""
    if attempt.surface is None or attempt.resource is None:
        return None
    projects = dict.fromkeys((attempt.resource.name.project, *(project.name for project in attempt.surface.projects)))
    names = [ResourceName(project, name) for project in projects]
    return next((attempt.surface.by_name[each] for each in names if each in attempt.surface.by_name), None)


@hints_for.register
def key_change_not_supported(error: storage.KeyChangeNotSupported, attempt: AttemptedRequest) -> Iterator[str]:
    names = listed(str(path)[2:] for path in error.resource.identity)
    yield (
        f"The key of {error.resource.url_path} is {names}. To have other values, POST a new item, let those that refer "
        f"to this one refer to it, and DELETE {attempt.path}."
    )


@hints_for.register
def dependent_item_exists(error: references.DependentItemExists, attempt: AttemptedRequest) -> Iterator[str]:
    if not error.resources:
        yield "Other items refer to it, which this client may not read. Who may delete those has to do so first."
    elif error.path:
        yield f"GET /{addresses.RELATIONS}{error.path} lists what refers to it. Delete that first."
    else:
        yield f"Delete what refers to it first: {listed(error.resources)}."


@hints_for.register
def identity_conflict(error: storage.IdentityConflict, attempt: AttemptedRequest) -> Iterator[str]:
    yield "Correct the key if another item is meant. Otherwise it exists: request it by its key, and PUT to its id."


@hints_for.register
def version_has_changed(error: storage.VersionHasChanged, attempt: AttemptedRequest) -> Iterator[str]:
    sent = attempt.meta.get("HTTP_IF_MATCH", "")
    yield (
        f"If-Match: {sent} was sent, which is not the current ETag of the item. Request it again, repeat the change on "
        "what it has become, and send its new ETag."
    )


@hints_for.register
def matching_version_exists(error: storage.MatchingVersionExists, attempt: AttemptedRequest) -> Iterator[str]:
    sent = attempt.meta.get("HTTP_IF_NONE_MATCH", "")
    yield f"If-None-Match: {sent} was sent, and the item exists. Without this header it would be replaced."


@hints_for.register(security.ResourceAccessDenied)
@hints_for.register(security.ActionAccessDenied)
def not_granted(
    error: security.ResourceAccessDenied | security.ActionAccessDenied, attempt: AttemptedRequest
) -> Iterator[str]:
    yield (
        f"{attempt.method} {attempt.path} was sent by a client with the claim set '{error.claim_set_name}', which does "
        f"not grant it. {_TOKEN_INFO} The operator of the server can give the client another claim set."
    )


@hints_for.register(security.ElementRequired)
@hints_for.register(security.NoRelationship)
def not_related(error: security.ElementRequired | security.NoRelationship, attempt: AttemptedRequest) -> Iterator[str]:
    ids = () if attempt.client is None else attempt.client.education_organization_ids
    yield (
        f"{_values_sent(error.elements, attempt)}The client acts for {_organizations(ids)}, and for those below. An "
        f"item has to belong to one of them, which has to exist. {_TOKEN_INFO}"
    )


def _organizations(ids: tuple[int, ...]) -> str:
    if not ids:
        return "no education organization"
    return f"the education organization{'s' if len(ids) > 1 else ''} {listed(map(str, ids), 5)}"


@hints_for.register
def namespace_mismatch(error: security.NamespaceMismatch, attempt: AttemptedRequest) -> Iterator[str]:
    if not error.is_stored:
        sent = _values_sent(("Namespace",), attempt)
        yield f"{sent}Begin the namespace with one of: {listed(map(shown, error.prefixes))}. {_TOKEN_INFO}"


def _values_sent(elements: Iterable[str], attempt: AttemptedRequest) -> str:
    """`$.schoolReference.schoolId 255901002 was sent. ` of the element `SchoolId`; nothing unless all are in the body
    that was sent."""
    names = {f"{element[:1].lower()}{element[1:]}" for element in elements}
    found = without_repetition(f"{path} {shown(value)}" for path, value in _named(attempt.document, names, "$", 2))
    pairs = listed(found, 5)
    return f"{pairs} was sent. " if pairs else ""


def _named(value: Any, names: set[str], path: str, levels: int) -> Iterator[tuple[str, Any]]:
    """The scalar members with these names, not deeper than so many levels."""
    if not isinstance(value, dict) or not levels:
        return
    for name, child in value.items():
        if name in names and not isinstance(child, dict | list):
            yield f"{path}.{name}", child
        elif not is_descriptor_name(name):
            yield from _named(child, names, f"{path}.{name}", levels - 1)
