"""Input and output of a bulk write, and what documents bring with them: ids and envelopes that they have elsewhere."""

from collections.abc import Sequence
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

from edfi_api.core.documents import json_text
from edfi_api.core.documents.violations import Tolerated
from edfi_api.core.storage.sets import Refusal
from edfi_api.core.storage.sets.staging import DocumentEnvelope
from edfi_api.core.storage.stored import Outcome
from edfi_api.core.writes.rules.ruled_write import Finding
from edfi_api.model.surface.resource import Resource

Origin = TypeVar("Origin")

# The member of a body with its envelope: {"created": ..., "modified": ..., "version": ..., "owner": ...}.
ENVELOPE = "_envelope"


class Place(NamedTuple):
    """The place a candidate comes from: the number of its source, and the line or position in it."""

    source: int
    line: int


class Candidate(NamedTuple, Generic[Origin]):
    """A body, as JSON text, to be written as a document of this resource; `origin` identifies its source to the caller.

    A named tuple because there are millions: creating one takes a third of the time of a dataclass.
    """

    resource: Resource
    text: bytes
    origin: Origin

    @classmethod
    def of(cls, resource: Resource, body: dict[str, Any], origin: Origin) -> "Candidate[Origin]":
        """A candidate from a parsed body."""
        return cls(resource, json_text.dumps(body), origin)

    @property
    def body(self) -> dict[str, Any]:
        """The parsed body. Raises EmptyBody, DocumentTooLarge, MalformedJson or DuplicateProperty."""
        return json_text.parse_object(self.text)


class Written(NamedTuple, Generic[Origin]):
    """The result of a candidate: its outcome or refusal.

    `aliases` are the referential ids of its document, its own first; empty if the body is invalid. `tolerated` is what
    was tolerated in the body, such as unknown members, `warnings` what custom rules warn of. `replaced_by` is the
    origin of a later candidate for the document, which counts instead; `has_replaced` says that an earlier candidate
    was written before this one.
    """

    candidate: Candidate[Origin]
    result: Outcome | Refusal
    aliases: tuple[bytes, ...]
    tolerated: Sequence[Tolerated] = ()
    warnings: Sequence[Finding] = ()
    replaced_by: Origin | None = None
    has_replaced: bool = False


class PreservedFields(Enum):
    """The fields that bodies bring with them: none, the member `id`, or the envelope too."""

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
