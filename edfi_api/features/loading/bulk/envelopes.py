"""What the documents of a load bring with them beside their bodies: the ids and envelopes that they have elsewhere."""

from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

from edfi_api.core.storage.sets.staging import DocumentEnvelope

# The member of a body with its envelope: {"created": ..., "modified": ..., "version": ..., "owner": ...}.
ENVELOPE = "_envelope"


class PreservedFields(Enum):
    """What bodies bring with them: nothing, the member `id`, or the envelope too."""

    NOTHING = "nothing"
    IDS = "ids"
    ENVELOPES = "envelopes"


class ImportedMembers(NamedTuple):
    """The id of a document, 32 hexadecimal digits, and its envelope; None where the body has none."""

    document_uuid: str | None = None
    envelope: DocumentEnvelope | None = None


def pop_imported(body: dict[str, Any], preserved: PreservedFields) -> ImportedMembers:
    """Remove from the body what it brings with it, and return it. An `id` that is none stays, and is refused as a
    member like any other."""
    if preserved is PreservedFields.NOTHING:
        return ImportedMembers()
    sent = body.pop(ENVELOPE, None) if preserved is PreservedFields.ENVELOPES else None
    envelope = DocumentEnvelope(*map(sent.get, ("created", "modified", "version", "owner"))) if sent else None
    try:
        document_uuid = UUID(body["id"]).hex
    except (KeyError, ValueError, AttributeError, TypeError):
        return ImportedMembers(None, envelope)
    del body["id"]
    return ImportedMembers(document_uuid, envelope)
