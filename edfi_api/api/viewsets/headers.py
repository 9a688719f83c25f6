"""The headers of documents: ETag, Location, and the preconditions If-Match and If-None-Match."""

import re

from django.http import HttpRequest
from django.utils.encoding import iri_to_uri

from edfi_api.api.viewsets.representation import etag
from edfi_api.model.surface.resource import Resource
from edfi_api.profiles.catalog import ProfilePart
from edfi_api.storage.conditions import AnyVersion, Versions, WriteCondition
from edfi_api.storage.stored import StoredDocument

# As `etag` makes it under a part of a profile that hides something.
_VISIBLE_VERSION = re.compile(r"(?P<version>v[0-9a-f]{24})-[ln]\.(?P<part>[0-9a-f]{8})")
_TAG = re.compile(r'(?P<weak>W/)?(?P<quote>"?)(?P<value>[^",\s]*)(?P=quote)')


def quoted(tag: str) -> str:
    """The value of the strong `ETag`."""
    return f'"{tag}"'


def location(request: HttpRequest, prefix: str, resource: Resource, document_uuid: str) -> str:
    """The address of a document, with the path prefix that the client used."""
    # Not `build_absolute_uri`, which parses the path first to check whether it is relative.
    start = f"{request.scheme}://{request.get_host()}{iri_to_uri(request.META.get('SCRIPT_NAME', ''))}"
    return f"{start}/{prefix}{resource.url_path}/{document_uuid}"


def write_condition(if_match: str | None, if_none_match: str | None) -> WriteCondition:
    """The condition in these headers. In `If-Match` a weak tag never matches (RFC 9110 §13.1.1). Those of parts of
    documents match nothing until `versions_of` is set."""
    return WriteCondition(
        must_match=_versions(if_match, weak_counts=False), must_not_match=_versions(if_none_match, weak_counts=True)
    )


def is_not_modified(request: HttpRequest, document: StoredDocument, part: ProfilePart | None) -> bool:
    """Whether `If-None-Match` has the tag of what would be served (RFC 9110 §13.1.2).

    The whole tag counts: what was served with links, or through a profile, is another representation.
    """
    header = request.META.get("HTTP_IF_NONE_MATCH")
    if header is None:
        return False
    if header.strip() == "*":
        return True
    served = etag(document, part)
    return any(tag["value"] == served for tag in _tags(header))


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


def _version(tag: str) -> int | str:
    """The change version in a tag, or the version of what a profile shows; -1 if it has none. The rest of a tag
    distinguishes representations of a version."""
    if visible := _VISIBLE_VERSION.fullmatch(tag):
        return f"{visible['version']}.{visible['part']}"
    version = tag.partition("-")[0]
    return int(version) if version.isascii() and version.isdigit() and len(version) < 20 else -1
