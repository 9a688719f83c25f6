"""`link` members in the reference objects of a document that is served. Source: http-api.md §8.1.

What a reference points at was read together with the document; nothing is asked here.
"""

from edfi_api.documents import json_text
from edfi_api.documents.extraction import Extractor
from edfi_api.documents.stored import StoredDocument, Target
from edfi_api.surface.resource import Surface


def linked_text(document: StoredDocument, extractor: Extractor, surface: Surface) -> str:
    """The body's JSON with a link behind the key of every reference object; as stored if it has none."""
    if not document.targets:
        return document.text
    body = json_text.loads(document.text.encode())
    for reference, referential_id in extractor.reference_objects(body):
        if target := document.targets.get(referential_id):
            reference["link"] = _link(target, surface)
    return json_text.dumps(body).decode()


def _link(target: Target, surface: Surface) -> dict[str, str]:
    resource = surface.by_name[target.name]
    return {"rel": target.name.resource, "href": f"{resource.url_path}/{target.document_uuid}"}
