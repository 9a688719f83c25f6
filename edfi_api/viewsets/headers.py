"""Headers that tell a client where a document is and which version of it answered."""

from django.http import HttpRequest

from edfi_api.documents.store import StoredDocument
from edfi_api.surface.resource import Resource
from edfi_api.viewsets.representation import etag


def etag_header(document: StoredDocument) -> dict[str, str]:
    """The `ETag` of a document: quoted, strong."""
    return {"ETag": f'"{etag(document)}"'}


def written_document_headers(
    request: HttpRequest, prefix: str, resource: Resource, document: StoredDocument
) -> dict[str, str]:
    """`Location`, below the prefix that the client used, and `ETag`."""
    path = f"{request.META.get('SCRIPT_NAME', '')}/{prefix}{resource.url_path}/{document.document_uuid}"
    return {"Location": request.build_absolute_uri(path), **etag_header(document)}
