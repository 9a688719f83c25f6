"""A body that a client sent, on its way to the store: brought into form, validated, understood."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from edfi_api.documents import violations
from edfi_api.documents.coercion import compile_coercion
from edfi_api.documents.exceptions import ClientAssignedId, DataValidationFailed, IdMismatch
from edfi_api.documents.extraction import DocumentIdentity, DocumentReference, Extractor
from edfi_api.documents.validation import Validator
from edfi_api.surface.resource import Resource

# How orjson spells NUL, which PostgreSQL's jsonb cannot hold.
_NUL = b"\\u0000"


@dataclass(frozen=True, slots=True)
class IncomingDocument:
    """A valid body with its identity and references; `text` is the JSON that will be stored."""

    resource: Resource
    body: dict[str, Any]
    text: bytes
    identity: DocumentIdentity
    references: list[DocumentReference]

    @property
    def targets(self) -> list[UUID]:
        """The ids referred to, each once."""
        return list({reference.referential_id for reference in self.references})


class Preparer:
    """The way of one resource's bodies from what was sent to what can be stored. Compiled once."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self._coerce = compile_coercion(resource.json_schema)
        self._validator = Validator(resource)
        self._extractor = Extractor(resource)

    def prepare_new(self, sent: dict[str, Any]) -> IncomingDocument:
        """A body to insert or to replace by natural key; ClientAssignedId if it brings an id."""
        if any(value is not None for name, value in sent.items() if name.lower() == "id"):
            raise ClientAssignedId
        return self.prepare(sent)

    def prepare_replacement(self, sent: dict[str, Any], document_uuid: UUID) -> IncomingDocument:
        """A body for the document with this id, which it must repeat."""
        sent_id = sent.get("id")
        if sent_id is None:
            raise DataValidationFailed([violations.required("$.id"), *self._violations(sent)])
        incoming = self.prepare(sent)
        if not isinstance(sent_id, str) or sent_id.lower() != str(document_uuid):
            raise IdMismatch
        return incoming

    def prepare(self, sent: dict[str, Any]) -> IncomingDocument:
        """Bring into form, validate, extract; DataValidationFailed names all that is wrong."""
        body = self._coerce(sent)
        self._validator.validate(body)
        text = orjson.dumps(body)
        if _NUL in text:
            _refuse_nul(body)
        return IncomingDocument(
            self.resource, body, text, self._extractor.identity(body), self._extractor.references(body)
        )

    def _violations(self, sent: dict[str, Any]) -> list[violations.Violation]:
        try:
            self.prepare(sent)
        except DataValidationFailed as failed:
            return failed.violations
        return []


def _refuse_nul(body: dict[str, Any]) -> None:
    if found := [violations.nul_character(path) for path, text in _texts(body, "$") if "\0" in text]:
        raise DataValidationFailed(found)


def _texts(value: Any, path: str) -> list[tuple[str, str]]:
    match value:
        case str():
            return [(path, value)]
        case dict():
            return [pair for name, child in value.items() for pair in _texts(child, f"{path}.{name}")]
        case list():
            return [pair for index, child in enumerate(value) for pair in _texts(child, f"{path}[{index}]")]
    return []
