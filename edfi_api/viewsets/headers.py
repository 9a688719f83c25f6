"""Headers: which version of a document answered, where it is, and what a client demands of the present version."""

import re

from django.http import HttpRequest
from django.utils.encoding import iri_to_uri

from edfi_api.documents.conditions import AnyVersion, Versions, WriteCondition
from edfi_api.documents.stored import StoredDocument, WrittenDocument
from edfi_api.surface.resource import Resource
from edfi_api.viewsets.representation import etag

_TAG = re.compile(r'(?P<weak>W/)?(?P<quote>"?)(?P<value>[^",\s]*)(?P=quote)')


def etag_header(document: StoredDocument | WrittenDocument) -> dict[str, str]:
    """The `ETag` of a document: quoted, strong."""
    return {"ETag": f'"{etag(document)}"'}


def written_document_headers(
    request: HttpRequest, prefix: str, resource: Resource, document: WrittenDocument
) -> dict[str, str]:
    """`Location`, below the prefix that the client used, and `ETag`."""
    # `build_absolute_uri` would take the path apart first, to see whether it is relative.
    start = f"{request.scheme}://{request.get_host()}{iri_to_uri(request.META.get('SCRIPT_NAME', ''))}"
    return {"Location": f"{start}/{prefix}{resource.url_path}/{document.document_uuid}", **etag_header(document)}


def write_condition(request: HttpRequest) -> WriteCondition:
    """What `If-Match` and `If-None-Match` demand of a write. A weak tag matches nothing (RFC 9110 §13.1.1)."""
    return WriteCondition(
        must_match=_versions(request.META.get("HTTP_IF_MATCH"), weak_counts=False),
        must_not_match=_versions(request.META.get("HTTP_IF_NONE_MATCH"), weak_counts=True),
    )


def is_not_modified(request: HttpRequest, document: StoredDocument) -> bool:
    """Whether a reader has this very version already (RFC 9110 §13.1.2)."""
    versions = _versions(request.META.get("HTTP_IF_NONE_MATCH"), weak_counts=True)
    return versions is AnyVersion.ANY or (versions is not None and document.change_version in versions)


def _versions(header: str | None, weak_counts: bool) -> Versions | None:
    """The change versions in a list of tags. What is no tag of ours stands for a version that nothing has."""
    if header is None:
        return None
    if header.strip() == "*":
        return AnyVersion.ANY
    tags = [_TAG.fullmatch(part.strip()) for part in header.split(",")]
    return frozenset(_version(tag["value"]) for tag in tags if tag and (weak_counts or not tag["weak"]))


def _version(tag: str) -> int:
    """The version part of a tag: other parts tell representations of one version apart."""
    version = tag.partition("-")[0]
    return int(version) if version.isascii() and version.isdigit() and len(version) < 20 else -1
