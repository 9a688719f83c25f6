"""What a bulk write is given, and what it answers."""

from typing import Any, Generic, NamedTuple, TypeVar, get_args

from edfi_api.documents import json_object, json_text
from edfi_api.documents.exceptions import (
    ClientAssignedId,
    DataValidationFailed,
    DocumentTooLarge,
    DuplicateProperty,
    EmptyBody,
    IdentityConflict,
    MalformedJson,
    TooMuchContention,
)
from edfi_api.documents.store import Outcome
from edfi_api.surface.resource import Resource
from references.exceptions import UnresolvedReference

Refusal = (
    EmptyBody
    | MalformedJson
    | DocumentTooLarge
    | DuplicateProperty
    | DataValidationFailed
    | ClientAssignedId
    | IdentityConflict
    | UnresolvedReference
    | TooMuchContention
)
REFUSALS = get_args(Refusal)

Origin = TypeVar("Origin")


class Candidate(NamedTuple, Generic[Origin]):
    """A body, as JSON text, that wants to become a document of this resource; `origin` tells its caller where it
    comes from. There are millions of these, and a tuple is made in a third of a dataclass's time."""

    resource: Resource
    text: bytes
    origin: Origin

    @classmethod
    def of(cls, resource: Resource, body: dict[str, Any], origin: Origin) -> "Candidate[Origin]":
        """With a body that is a value already."""
        return cls(resource, json_text.dumps(body), origin)

    @property
    def body(self) -> dict[str, Any]:
        """EmptyBody, DocumentTooLarge, MalformedJson or DuplicateProperty if the text is none."""
        return json_object.parse(self.text)


class Written(NamedTuple, Generic[Origin]):
    """What became of a candidate: an outcome, or the refusal. Candidates for one document have one referential id,
    those whose bodies are not valid none."""

    candidate: Candidate[Origin]
    result: Outcome | Refusal
    referential_id: bytes | None
