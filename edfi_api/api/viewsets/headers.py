"""The headers of documents: ETag, Location, and the preconditions If-Match and If-None-Match."""

import re
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.utils.encoding import iri_to_uri

from edfi_api.api.viewsets.representation import etag
from edfi_api.model.surface.resource import Resource
from edfi_api.storage.conditions import AnyVersion, Versions, WriteCondition
from edfi_api.storage.stored import StoredDocument, Written

_TAG = re.compile(r'(?P<weak>W/)?(?P<quote>"?)(?P<value>[^",\s]*)(?P=quote)')


def etag_header(document: StoredDocument | Written, profile_tag: str = "") -> dict[str, str]:
    """The strong `ETag` of a document."""
    return {"ETag": f'"{etag(document, profile_tag)}"'}


def written_document_headers(
    request: HttpRequest, prefix: str, resource: Resource, document: Written, profile_tag: str = ""
) -> dict[str, str]:
    """`Location`, with the path prefix that the client used, and `ETag`."""
    # Not `build_absolute_uri`, which parses the path first to check whether it is relative.
    start = f"{request.scheme}://{request.get_host()}{iri_to_uri(request.META.get('SCRIPT_NAME', ''))}"
    return {
        "Location": f"{start}/{prefix}{resource.url_path}/{document.document_uuid}",
        **etag_header(document, profile_tag),
    }


def write_condition(request: HttpRequest) -> WriteCondition:
    """The condition of a request."""
    return condition_of(request.META)


def condition_of(variables: Mapping[str, Any]) -> WriteCondition:
    """The condition in `If-Match` and `If-None-Match`, by their names in WSGI. In `If-Match` a weak tag never matches
    (RFC 9110 §13.1.1)."""
    return WriteCondition(
        must_match=_versions(variables.get("HTTP_IF_MATCH"), weak_counts=False),
        must_not_match=_versions(variables.get("HTTP_IF_NONE_MATCH"), weak_counts=True),
    )


def is_not_modified(request: HttpRequest, document: StoredDocument, profile_tag: str = "") -> bool:
    """Whether `If-None-Match` has the tag of what would be served (RFC 9110 §13.1.2).

    The whole tag counts: what was served with links, or through a profile, is another representation.
    """
    header = request.META.get("HTTP_IF_NONE_MATCH")
    if header is None:
        return False
    return header.strip() == "*" or any(tag["value"] == etag(document, profile_tag) for tag in _tags(header))


def _versions(header: str | None, weak_counts: bool) -> Versions | None:
    """The change versions in a list of tags; None without the header. Foreign tags match no version."""
    if header is None:
        return None
    if header.strip() == "*":
        return AnyVersion.ANY
    return frozenset(_version(tag["value"]) for tag in _tags(header) if weak_counts or not tag["weak"])


def _tags(header: str) -> list[re.Match[str]]:
    """The well-formed tags of a list; others match no document."""
    return [tag for part in header.split(",") if (tag := _TAG.fullmatch(part.strip()))]


def _version(tag: str) -> int:
    """The change version in a tag, -1 if it has none. The rest of a tag distinguishes representations of a version."""
    version = tag.partition("-")[0]
    return int(version) if version.isascii() and version.isdigit() and len(version) < 20 else -1
