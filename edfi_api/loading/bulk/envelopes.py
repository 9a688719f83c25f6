"""What the documents of a load bring with them beside their bodies: the ids and envelopes that they have elsewhere."""

from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

from edfi_api.storage.sets.staging import Kept

# The member of a body with its envelope: {"created": ..., "modified": ..., "version": ..., "owner": ...}.
ENVELOPE = "_envelope"


class Keeps(Enum):
    """What bodies bring with them: nothing, the member `id`, or the envelope too."""

    NOTHING = "nothing"
    IDS = "ids"
    ENVELOPES = "envelopes"


class Brought(NamedTuple):
    """The id of a document, 32 hexadecimal digits, and its envelope; None where the body has none."""

    document_uuid: str | None = None
    envelope: Kept | None = None


def taken(body: dict[str, Any], keeps: Keeps) -> Brought:
    """Remove from the body what it brings with it, and return it. An `id` that is none stays, and is refused as a
    member like any other."""
    if keeps is Keeps.NOTHING:
        return Brought()
    envelope = body.pop(ENVELOPE, None) if keeps is Keeps.ENVELOPES else None
    kept = Kept(*map(envelope.get, ("created", "modified", "version", "owner"))) if envelope else None
    try:
        document_uuid = UUID(body["id"]).hex
    except (KeyError, ValueError, AttributeError, TypeError):
        return Brought(None, kept)
    del body["id"]
    return Brought(document_uuid, kept)
