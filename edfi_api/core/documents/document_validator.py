"""Validates a client's body for the store: coercion, validation, extraction of identity, references and securables."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from edfi_api.core.documents import json_text, violations
from edfi_api.core.documents.body_reader import BodyReader, ReadBody
from edfi_api.core.documents.coercion import compile_coercion, trim_descriptor
from edfi_api.core.documents.exceptions import (
    ClientAssignedId,
    DataValidationFailed,
    DocumentTooLarge,
    HiddenItemsSent,
    IdMismatch,
)
from edfi_api.core.documents.extraction import (
    DESCRIPTOR_KEY,
    DocumentIdentity,
    DocumentReference,
    Extractor,
    PartialIdentity,
    PartialIdentityReader,
    StoredUris,
    descriptor_identity,
    normalize_case,
)
from edfi_api.core.documents.json_text import MOST_REFERENCES
from edfi_api.core.documents.ods_form import OdsBodyValidator, compile_ods_coercion
from edfi_api.core.documents.securables import Securables, SecurablesExtractor
from edfi_api.core.documents.validation import BodyValidator
from edfi_api.core.documents.violations import Leniency, Reason, Tolerated, Violation, as_many_as_reported
from edfi_api.model.surface.resource import JsonPath, Resource, ResourceName, Surface

# NUL as orjson writes it. PostgreSQL's jsonb cannot store it.
_NUL = b"\\u0000"
# Blanks, or what begins as a URI and goes on otherwise: `uri: //lakeside.example`, `uri:/lakeside.example`.
_MISSPELT_NAMESPACE = re.compile(r"\s|(?i:^ur[il]s?)\b(?!://[^/\s])")
_NAMESPACE = "namespace"


# Not frozen: a frozen dataclass takes five times as long to be made.
@dataclass(slots=True)
class ValidatedDocument:
    """A valid body with its identity, references and securables. Does not change.

    `text` is the JSON to store. `key_descriptors` are the descriptors in the keys of reference objects: references of
    the targets, not of this document.
    """

    resource: Resource
    body: dict[str, Any]
    text: bytes
    identity: DocumentIdentity
    references: list[DocumentReference]
    key_descriptors: list[DocumentReference]
    securables: Securables

    @property
    def sent_references(self) -> Sequence[DocumentReference]:
        """All references, with their places in the body that the client sent, as errors name them."""
        return (*self.references, *self.key_descriptors)

    @property
    def targets(self) -> list[UUID]:
        """The referential ids of all targets, each once."""
        # Keyed by integer, because hashing and comparing UUIDs runs Python code.
        return list({reference.referential_id.int: reference.referential_id for reference in self.references}.values())

    @property
    def linked(self) -> list[UUID]:
        """The referential ids of the targets of reference objects, in the order of `Extractor.reference_objects`."""
        return [reference.referential_id for reference in self.references if reference.value is None]

    def spelt_as(self, stored: Mapping[str, Any] | None) -> "ValidatedDocument":
        """A descriptor with the key of the stored body, if that differs in case only: documents that refer to it have
        this spelling, and namespaces are granted by it. Any other document as it is."""
        if stored is None or not self.resource.is_descriptor:
            return self
        key = {name: stored[name] for name in DESCRIPTOR_KEY}
        identity = descriptor_identity(self.resource.name, key)
        if identity == self.identity or identity.referential_id != self.identity.referential_id:
            return self
        body = self.body | key
        namespace = None if self.securables.namespace is None else key["namespace"]
        return replace(
            self,
            body=body,
            text=json_text.dumps(body),
            identity=identity,
            securables=self.securables._replace(namespace=namespace),
        )


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A valid part of a body; the whole depends on the stored one.

    `merged` is the function of the stored body, None for a new document, to the document to write in its place. It may
    raise refusals.
    """

    resource: Resource
    identity: DocumentIdentity
    merged: Callable[[dict[str, Any] | None], ValidatedDocument]


class DocumentValidator:
    """Validates the bodies of one resource; compiled once from the resource. `is_like_ods` if they are read as the
    ODS/API reads them."""

    def __init__(
        self, resource: Resource, is_like_ods: bool = False, known_schema: dict[str, Any] | None = None
    ) -> None:
        """`known_schema` has the resource's members and others, which are dropped without being reported as unknown."""
        self.resource = resource
        self.is_like_ods = is_like_ods
        compiled = compile_ods_coercion if is_like_ods else compile_coercion
        self._reader = BodyReader(resource.json_schema, known_schema, compiled, resource.served_names)
        self._has_namespace = JsonPath((_NAMESPACE,)) in resource.identity
        self._validator = (OdsBodyValidator if is_like_ods else BodyValidator)(resource)
        self.extractor = Extractor(resource)
        self._securables = SecurablesExtractor(resource)
        self._partial_identity = PartialIdentityReader(resource, self.extractor, self._securables)

    def validate_new(
        self, sent: dict[str, Any], stored_uris: StoredUris, leniency: Leniency | None = None
    ) -> ValidatedDocument:
        """A body for an upsert. Raises ClientAssignedId if it has an `id`, and what `validate` raises.

        `leniency` gets what is tolerated in the body; if it is strict, that is refused with the other violations.
        """
        return self.as_validated(self.valid_new(sent, leniency), stored_uris)

    def validate_replacement(
        self,
        sent: dict[str, Any],
        document_uuid: UUID,
        stored_uris: StoredUris,
        leniency: Leniency | None = None,
    ) -> ValidatedDocument:
        """A body for an update, which must contain the `id`. Raises IdMismatch if it differs from `document_uuid`, and
        what `validate` raises. `leniency` as in `validate_new`."""
        return self.as_validated(self.valid_replacement(sent, document_uuid, leniency), stored_uris)

    def validate(self, sent: dict[str, Any], stored_uris: StoredUris) -> ValidatedDocument:
        """Coerce, validate, extract. Raises DataValidationFailed with all violations of the first kind of check that
        fails, and DocumentTooLarge for too many references.

        Descriptor values get the letter case of the stored descriptors, which `stored_uris` finds by referential id.
        """
        return self.as_validated(self._valid(sent, None), stored_uris)

    def valid_new(self, sent: dict[str, Any], leniency: Leniency | None = None) -> dict[str, Any]:
        """The coerced body of an upsert, after every check that needs no other document. Raises what `validate_new`
        does."""
        if sent_id(sent) is None:
            return self._valid(sent, leniency)
        try:
            self._valid(sent, leniency)
        except DataValidationFailed as failed:
            raise ClientAssignedId(failed.violations) from failed
        except HiddenItemsSent as hidden:
            raise ClientAssignedId from hidden
        raise ClientAssignedId

    def valid_replacement(
        self, sent: dict[str, Any], document_uuid: UUID, leniency: Leniency | None = None
    ) -> dict[str, Any]:
        """Return the valid body of an update, as `valid_new` does for a new document. Raises what
        `validate_replacement` does.
        """
        sent, body, refused = self._read(sent, leniency)
        own_id = sent.get("id")
        self.validate_schema(body, [violations.missing_id(), *refused] if own_id is None else refused)
        if not is_id_of(document_uuid, own_id):
            raise IdMismatch
        self._validator.validate_values(body)
        return body

    def as_validated(self, body: dict[str, Any], stored_uris: StoredUris) -> ValidatedDocument:
        """A valid body with its identity, references and securables. Raises DocumentTooLarge."""
        references, key_descriptors = self._references(body)
        normalize_case(body, [*references, *key_descriptors], stored_uris)
        return self._as_validated(body, references, key_descriptors)

    def partial_identity(self, sent: dict[str, Any]) -> PartialIdentity:
        """Return what a body that may be invalid says about the document. Raises nothing, whatever the body is."""
        return self._partial_identity.read(self._read(sent, None).body)

    def natural_key_of_target(self, sent: dict[str, Any], target: UUID) -> str | None:
        """The natural key by which a body that is valid refers to this referential id; None if no reference object
        does."""
        return self.extractor.natural_key_of_target(self._read(sent, None).body, target)

    def aliases_of_refused(self, sent: dict[str, Any]) -> list[UUID]:
        """The referential ids that an invalid body would have had; none if its key is incomplete."""
        try:
            return self.extractor.identity(self._read(sent, None).body).aliases
        except (DataValidationFailed, KeyError):
            return []

    def securables_of_sent(self, sent: dict[str, Any]) -> Securables:
        """The securables of a body that need not be valid. Raises what wrong types cause."""
        return self._securables.securables(self._read(sent, None).body)

    def check(self, body: dict[str, Any]) -> None:
        """Raise DataValidationFailed if a coerced body breaks a rule of the resource."""
        self._validator.validate_schema(body)
        self._validator.validate_values(body)

    def _valid(self, sent: dict[str, Any], leniency: Leniency | None) -> dict[str, Any]:
        _, body, refused = self._read(sent, leniency)
        self.validate_schema(body, refused)
        self._validator.validate_values(body)
        return body

    def _read(self, sent: dict[str, Any], leniency: Leniency | None) -> ReadBody:
        """The body under the names of the schema, coerced, and what is refused in it."""
        read = self._reader.read(sent, leniency)
        if self.resource.is_descriptor:
            read = read._replace(body=trim_descriptor(read.body))
        if leniency is None or not self._has_namespace:
            return read
        misspelt = self._misspelt_namespace(read.body)
        leniency.tolerated = [*misspelt, *leniency.tolerated]
        if misspelt and leniency.is_strict:
            return read._replace(refused=[*read.refused, violations.misspelt_namespace(misspelt[0].path)])
        return read

    def _misspelt_namespace(self, body: dict[str, Any]) -> list[Tolerated]:
        namespace = body.get(_NAMESPACE)
        is_misspelt = isinstance(namespace, str) and _MISSPELT_NAMESPACE.search(namespace.strip())
        return [Tolerated(f"$.{_NAMESPACE}", Reason.MISSPELT_NAMESPACE)] if is_misspelt else []

    def validate_schema(self, body: dict[str, Any], already_found: list[Violation]) -> None:
        """Raise DataValidationFailed with the violations that were found already and those of the schema. Removes
        optional texts that show nothing from the body."""
        try:
            self._validator.validate_schema(body, drops_empty_texts=True)
        except DataValidationFailed as failed:
            raise DataValidationFailed([*already_found, *failed.violations]) from failed
        if already_found:
            raise DataValidationFailed(already_found)

    def _references(self, body: dict[str, Any]) -> tuple[list[DocumentReference], list[DocumentReference]]:
        """The references of a client's body, and the descriptors in their keys. Raises DocumentTooLarge.

        The limit does not apply to stored bodies (`understand`), which may be older than the limit.
        """
        references, key_descriptors = self.extractor.references(body), self.extractor.key_descriptors(body)
        if len(references) + len(key_descriptors) > MOST_REFERENCES:
            raise DocumentTooLarge("references", MOST_REFERENCES)
        return references, key_descriptors

    def follow_moved_targets(self, body: dict[str, Any], moved: Mapping[UUID, Mapping[str, Any]]) -> ValidatedDocument:
        """The stored `body` with its references to changed targets rewritten; `moved` has the new key values by old
        referential id. Raises DataValidationFailed if the result breaks an equality or uniqueness constraint."""
        self.extractor.follow_moved_targets(body, moved)
        self._validator.validate_values(body)
        return self.understand(body)

    def understand(self, body: dict[str, Any]) -> ValidatedDocument:
        """Identity, references and securables of a body that is known to be valid, such as a stored one."""
        return self._as_validated(body, self.extractor.references(body), self.extractor.key_descriptors(body))

    def _as_validated(
        self, body: dict[str, Any], references: list[DocumentReference], key_descriptors: list[DocumentReference]
    ) -> ValidatedDocument:
        text = json_text.dumps(body)
        if _NUL in text:
            _refuse_nul(body)
        identity, securables = self.extractor.identity(body), self._securables.securables(body)
        return ValidatedDocument(self.resource, body, text, identity, references, key_descriptors, securables)


def sent_id(document: Mapping[str, Any]) -> Any:
    """The value of the member `id`, in whatever case its name is; None without one."""
    for name, value in document.items():
        if len(name) == 2 and value is not None and name.lower() == "id":
            return value
    return None


def is_id_of(document_uuid: UUID, sent: Any) -> bool:
    """Return whether the `id` of a body is this one, with hyphens or as 32 digits."""
    return isinstance(sent, str) and sent.lower() in (str(document_uuid), document_uuid.hex)


class DocumentValidators:
    """The validators of a surface, each compiled at first use. `are_like_ods` as of `DocumentValidator`."""

    def __init__(self, surface: Surface, are_like_ods: bool = False) -> None:
        self.surface = surface
        self._are_like_ods = are_like_ods
        self._compiled: dict[ResourceName, DocumentValidator] = {}

    def __contains__(self, name: ResourceName) -> bool:
        """Return whether the surface has this resource; the database may have documents of other resources."""
        return name in self.surface.by_name

    def __getitem__(self, name: ResourceName) -> DocumentValidator:
        if name not in self._compiled:
            self._compiled[name] = DocumentValidator(self.surface.by_name[name], self._are_like_ods)
        return self._compiled[name]


def _refuse_nul(body: dict[str, Any]) -> None:
    with_nul = (violations.nul_character(path) for path, text in _texts(body, "$") if "\0" in text)
    if found := as_many_as_reported(with_nul):
        raise DataValidationFailed(found)


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield path, value
        case dict():
            for name, child in value.items():
                yield from _texts(child, f"{path}.{name}")
        case list():
            for index, child in enumerate(value):
                yield from _texts(child, f"{path}[{index}]")
