"""Hints about what is stored, and who may do what with it: references, descriptors, keys, versions, authorization."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from edfi_api.common import addresses
from edfi_api.core.documents.paths import steps_of
from edfi_api.core.security import exceptions as security
from edfi_api.core.security.requests.authorization import readable_rows
from edfi_api.core.storage import exceptions as storage
from edfi_api.core.storage.near_keys import near_keys
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.ods_names import in_served_names
from edfi_api.model.surface.resource import JsonPath, Resource, ResourceName
from edfi_api.web.problem_details.hints.attempted_request import (
    AttemptedRequest,
    distinguished,
    listed,
    quoted,
    shown,
    without_repetition,
)
from edfi_api.web.problem_details.hints.body_hints import value_at
from edfi_api.web.problem_details.hints.near_descriptors import readable_near_descriptors
from references import exceptions as references

# So many values are compared with those of stored descriptors.
_MOST_COMPARED = 3
_LINK = "link"
_WEAK_TAG = re.compile(r"\bW/", re.IGNORECASE)
# HTTP servers write the encoding into tags of compressed answers, as here.
_SUFFIXED_TAG = re.compile(r"[-;](?:gzip|br|zstd|deflate)\"")
_TOKEN_INFO = f"POST /{addresses.INTROSPECTION} lists what the token permits."
_NO_ORGANIZATIONS = (
    "The client acts for no education organization, so that it may not write or read any item that belongs to one. The "
    f"operator of the server has to assign education organizations to its application. {_TOKEN_INFO}"
)


def unresolved_reference(error: references.UnresolvedReference, attempt: AttemptedRequest) -> Iterator[str]:
    for number, missing in enumerate(error.descriptors):
        yield _of_descriptor(missing, attempt, is_compared=number < _MOST_COMPARED)
    for number, missing in enumerate(error.documents):
        resource = _resource(missing.resource, attempt)
        where = "" if resource is None else f" by POST to {resource.served_path}"
        found = value_at(attempt.document, missing.path)
        near = "" if resource is None or number >= _MOST_COMPARED else _near_key(missing, resource, found, attempt)
        instead = near or f"Correct the key, or send the item first{where}."
        yield f"{missing.path}: there is no {missing.resource}{_key_sent(found)}. {instead}"


def _near_key(missing: references.MissingTarget, resource: Resource, sent: Any, attempt: AttemptedRequest) -> str:
    """Return what the key of a stored document that the client may read has in place of what was sent; empty without
    one."""
    members = _members_of_key(missing.path, resource, attempt)
    if attempt.client is None or attempt.surface is None or attempt.using is None or not isinstance(sent, dict):
        return ""
    key = {there: sent.get(name) for there, name in members.items()}
    if not key or any(value is None for value in key.values()):
        return ""
    found = near_keys(resource, key, attempt.using)
    rows = dict.fromkeys((each.row for each in found), resource.name)
    readable = readable_rows(attempt.client, attempt.surface, attempt.using, rows) if rows else ()
    near = next((each.key for each in found if each.row in readable), None)
    if near is None:
        return ""
    pairs = [f"{members[path]} {distinguished(near[path], key[path])}" for path in key if near[path] != key[path]]
    return f"There is one with {listed(pairs)}: keys have to be equal in case, blanks and the form of Unicode."


def _members_of_key(path: str, resource: Resource, attempt: AttemptedRequest) -> dict[JsonPath, str]:
    """The members of the reference object at this place, by the paths of the key of its target."""
    template = JsonPath(steps_of(path))
    references_ = () if attempt.resource is None else attempt.resource.references
    reference = next((each for each in references_ if each.path == template and each.target == resource.name), None)
    return {} if reference is None else {pair.there: pair.here.steps[-1] for pair in reference.identity}


def _of_descriptor(missing: references.MissingTarget, attempt: AttemptedRequest, is_compared: bool) -> str:
    uri, resource = missing.value or "", _resource(missing.resource, attempt)
    if resource is None:
        return f"{missing.path}: {quoted(uri)} was sent."
    form = "" if "#" in uri else f" A descriptor is written as its URI, uri://NAMESPACE/{missing.resource}#CODE VALUE."
    near = readable_near_descriptors(uri, resource, attempt) if is_compared else []
    meant = f" Did you mean {' or '.join(distinguished(each, uri) for each in near)}?" if near else ""
    return f"{missing.path}: {quoted(uri)} was sent.{form}{meant} GET {resource.served_path} lists those that exist."


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


def key_change_not_supported(error: storage.KeyChangeNotSupported, attempt: AttemptedRequest) -> Iterator[str]:
    resource = in_served_names(error.resource)
    names = listed(str(path)[2:] for path in resource.identity)
    yield (
        f"The key of {resource.url_path} is {names}. To have other values, POST a new item, let those that refer "
        f"to this one refer to it, and DELETE {attempt.path}."
    )


def dependent_item_exists(error: references.DependentItemExists, attempt: AttemptedRequest) -> Iterator[str]:
    if not error.resources:
        yield "Other items refer to it, which this client may not read. Who may delete those has to do so first."
    elif error.path:
        yield f"GET /{addresses.RELATIONS}{error.path} lists what refers to it. Delete that first."
    else:
        yield f"Delete what refers to it first: {listed(error.resources)}."


def identity_conflict(error: storage.IdentityConflict, attempt: AttemptedRequest) -> Iterator[str]:
    yield "Correct the key if another item is meant. Otherwise it exists: request it by its key, and PUT to its id."


def version_has_changed(error: storage.VersionHasChanged, attempt: AttemptedRequest) -> Iterator[str]:
    sent = attempt.meta.get("HTTP_IF_MATCH", "")
    if _WEAK_TAG.search(sent):
        yield (
            f"If-Match: {sent[:200]} was sent, with a weak tag (W/), which never matches. A proxy that compresses "
            "answers makes tags weak. Send the value of the document's member _etag in quotation marks, without W/."
        )
        return
    if _SUFFIXED_TAG.search(sent):
        yield (
            f"If-Match: {sent[:200]} was sent. A proxy that compresses answers has changed the tag. Send the value of "
            "the document's member _etag in quotation marks."
        )
        return
    yield (
        f"If-Match: {sent} was sent, which is not the current ETag of the item. Request it again, repeat the change on "
        "what it has become, and send its new ETag."
    )


def matching_version_exists(error: storage.MatchingVersionExists, attempt: AttemptedRequest) -> Iterator[str]:
    sent = attempt.meta.get("HTTP_IF_NONE_MATCH", "")
    yield f"If-None-Match: {sent} was sent, and the item exists. Without this header it would be replaced."


def not_granted(
    error: security.ResourceAccessDenied | security.ActionAccessDenied, attempt: AttemptedRequest
) -> Iterator[str]:
    yield (
        f"{attempt.method} {attempt.path} was sent by a client with the claim set '{error.claim_set_name}', which does "
        f"not grant it. {_TOKEN_INFO} The operator of the server can give the client another claim set."
    )


def not_related(error: security.ElementRequired | security.NoRelationship, attempt: AttemptedRequest) -> Iterator[str]:
    ids = () if attempt.client is None else attempt.client.education_organization_ids
    if not ids:
        yield _NO_ORGANIZATIONS
        return
    yield (
        f"{_values_sent(error.elements, attempt)}The client acts for {_organizations(ids)}, and for those below. An "
        f"item has to belong to one of them, which has to exist. {_TOKEN_INFO}"
    )


def no_education_organizations(error: security.NoEducationOrganizations, attempt: AttemptedRequest) -> Iterator[str]:
    yield _NO_ORGANIZATIONS


def _organizations(ids: tuple[int, ...]) -> str:
    return f"the education organization{'s' if len(ids) > 1 else ''} {listed(map(str, ids), 5)}"


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
