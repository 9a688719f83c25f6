"""Extracts identity and references from a body, and gives its descriptors the case of the stored ones.

Paths are compiled once per resource. Whether the targets exist is checked by the database.

Descriptors compare case-insensitively, and the API returns the descriptor's own case, not the client's. Bodies are
normalised before they are stored, so that query by example can compare exactly. See
meadowlark/docs/reference/contract.md#descriptors.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, NamedTuple
from uuid import UUID

from edfi_api.core.documents import violations
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.paths import Indexes, Path, as_text, concrete, values_at
from edfi_api.core.documents.securables import SecurablesExtractor
from edfi_api.model.surface.json_schema import find_schema
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.resource import (
    ALL_ITEMS,
    DescriptorPath,
    KeyPair,
    ReferencePath,
    Resource,
    ResourceName,
    Superclass,
)
from references.descriptor_uri import comparable
from references.exceptions import MissingTarget
from references.identity import KeyForm, descriptor_natural_key, natural_key, referential_id

# Referential ids → the URIs of the stored descriptors among them.
StoredUris = Callable[[Iterable[UUID]], Mapping[UUID, str]]

# The members of which the URI of a descriptor consists.
DESCRIPTOR_KEY = ("namespace", "codeValue")


class DocumentIdentity(NamedTuple):
    """A document's own identity, and its identity as its superclass."""

    elements: list[tuple[str, str]]
    natural_key: str
    referential_id: UUID
    superclass_id: UUID | None = None

    @property
    def aliases(self) -> list[UUID]:
        """All referential ids of the document."""
        return [self.referential_id] if self.superclass_id is None else [self.referential_id, self.superclass_id]


class DocumentReference(NamedTuple):
    """One reference found in a body; `value` is the URI of a descriptor, None for a reference object."""

    steps: Path
    indexes: Indexes
    target: ResourceName
    referential_id: UUID
    value: str | None = None

    def as_missing(self, is_of_another_type: bool = False) -> MissingTarget:
        """Return this reference as reported when its target does not exist, or only as a descriptor of another type."""
        return MissingTarget(self.place, self.target.resource, self.value, is_of_another_type, self.referential_id)

    @property
    def place(self) -> str:
        """The path of the reference in the body."""
        return concrete(self.steps, self.indexes)


class Extractor:
    """The compiled paths of one resource."""

    def __init__(self, resource: Resource) -> None:
        self._name = resource.name
        self._is_descriptor = resource.is_descriptor
        self._key = sorted((path.without_root(), path.steps) for path in resource.identity)
        self._names, self._steps = [name for name, _ in self._key], [steps for _, steps in self._key]
        self._identities = _Identities(resource.name, self._names)
        self._superclass = _SuperclassKey(resource.superclass) if resource.superclass else None
        # Links are stored in this order, so it must not depend on the rest of the data standard.
        by_path = sorted(resource.references, key=lambda reference: reference.path)
        self._references = [_ReferenceKey(reference) for reference in by_path]
        # The first step to each reference object, and its steps if there are further ones.
        places = ((each.first_step, each.steps) for each in self._references)
        self._reference_places = [(first, steps if len(steps) > 1 else None) for first, steps in places]
        self._descriptors = [_DescriptorKey(descriptor) for descriptor in resource.descriptors]
        self._key_descriptors = [_DescriptorKey(descriptor) for descriptor in resource.key_descriptors]

    def identity(self, body: dict[str, Any]) -> DocumentIdentity:
        """The identity of a valid body. Raises DataValidationFailed if a key value is missing."""
        own = self.own_identity(body)
        return own if self._superclass is None else own._replace(superclass_id=self._superclass.referential_id(body))

    def own_identity(self, body: dict[str, Any]) -> DocumentIdentity:
        """Return the identity of the document, without the identity that it has as its superclass."""
        if self._is_descriptor:
            return descriptor_identity(self._name, body)
        values = [as_text(_value(body, steps)) for steps in self._steps]
        return DocumentIdentity(list(zip(self._names, values, strict=True)), *self._identities.identify(values))

    def natural_key_of_target(self, body: dict[str, Any], target: UUID) -> str | None:
        """The natural key by which the body refers to this referential id; None if no reference object does."""
        for reference in self._references:
            for _, found in values_at(body, reference.steps):
                if (identity := reference.identity_in(found)) and identity[1] == target:
                    return identity[0]
        return None

    def key_values(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Return for each alias of the document its key values by path, with the JSON types of the body."""
        own = {name: _value(body, steps) for name, steps in self._key}
        return [own] if self._superclass is None else [own, self._superclass.key_values(body)]

    def key_descriptors(self, body: dict[str, Any]) -> list[DocumentReference]:
        """The descriptor values inside reference objects: references of the targets, not of this document."""
        found: list[DocumentReference] = []
        for descriptor in self._key_descriptors:
            if descriptor.first_step in body:
                found += descriptor.find(body)
        return found

    def reference_objects(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Every reference object of the body, by reference and not a copy, in the order of `references`."""
        found: list[dict[str, Any]] = []
        for name, nested in self._reference_places:
            if name not in body:
                continue
            if nested is None:
                found.append(body[name])
            else:
                found += [value for _, value in values_at(body, nested)]
        return found

    def follow_moved_targets(self, body: dict[str, Any], moved: Mapping[UUID, Mapping[str, Any]]) -> None:
        """Rewrite, in place, every reference to a target whose identity changed; `moved` has the new key values by old
        referential id."""
        for reference in self._references:
            if reference.first_step in body:
                reference.follow_moved_targets(body, moved)

    def references(self, body: dict[str, Any]) -> list[DocumentReference]:
        """Every reference in the body, at any depth, including repeated ones."""
        found: list[DocumentReference] = []
        for reference in self._references:
            if reference.first_step in body:
                found += reference.find(body)
        for descriptor in self._descriptors:
            if descriptor.first_step in body:
                found += descriptor.find(body)
        return found


class _ReferenceKey:
    def __init__(self, reference: ReferencePath) -> None:
        self.first_step = reference.path.steps[0]
        self.steps = reference.path.steps
        self._target = reference.target
        depth = len(self.steps)
        # In the order of the target's own paths, so that both sides compute the same natural key.
        self._members = sorted((pair.there.without_root(), pair.here.steps[depth]) for pair in reference.identity)
        self._names = [member for _, member in self._members]
        self._identities = _Identities(reference.target, [path for path, _ in self._members])

    def find(self, body: dict[str, Any]) -> list[DocumentReference]:
        found = []
        for indexes, reference in values_at(body, self.steps):
            try:
                id_ = self._referential_id(reference)
            except KeyError:
                path = concrete(self.steps, indexes)
                missing = (name for name in self._names if name not in reference)
                raise DataValidationFailed([violations.required(f"{path}.{name}") for name in missing]) from None
            found.append(DocumentReference(self.steps, indexes, self._target, id_))
        return found

    def follow_moved_targets(self, body: dict[str, Any], moved: Mapping[UUID, Mapping[str, Any]]) -> None:
        for _, reference in values_at(body, self.steps):
            if key := moved.get(self._referential_id(reference)):
                reference.update({member: key[name] for name, member in self._members})

    def identity_in(self, reference: Any) -> tuple[str, UUID] | None:
        """Natural key and referential id of the target of a reference object; None if a member is missing."""
        if not isinstance(reference, dict) or any(name not in reference for name in self._names):
            return None
        return self._identities.identify([as_text(reference[name]) for name in self._names])

    def _referential_id(self, reference: dict[str, Any]) -> UUID:
        return self._identities.identify([as_text(reference[name]) for name in self._names])[1]


class _DescriptorKey:
    def __init__(self, descriptor: DescriptorPath) -> None:
        self.first_step = descriptor.path.steps[0]
        self._steps = descriptor.path.steps
        self._target = descriptor.target
        self._id_of = partial(_descriptor_id, descriptor.target.project, descriptor.target.resource)

    def find(self, body: dict[str, Any]) -> list[DocumentReference]:
        return [
            DocumentReference(self._steps, indexes, self._target, self._id_of(uri), uri)
            for indexes, uri in values_at(body, self._steps)
        ]


class _SuperclassKey:
    def __init__(self, superclass: Superclass) -> None:
        self._pairs: list[KeyPair] = sorted(superclass.identity, key=lambda pair: pair.there.without_root())
        self._identities = _Identities(superclass.name, [pair.there.without_root() for pair in self._pairs])

    def referential_id(self, body: dict[str, Any]) -> UUID:
        return self._identities.identify([as_text(_value(body, pair.here.steps)) for pair in self._pairs])[1]

    def key_values(self, body: dict[str, Any]) -> dict[str, Any]:
        return {pair.there.without_root(): _value(body, pair.here.steps) for pair in self._pairs}


def descriptor_identity(name: ResourceName, body: Mapping[str, Any]) -> DocumentIdentity:
    """The identity of a descriptor of this type."""
    uri = f"{body['namespace']}#{body['codeValue']}"
    elements = [("codeValue", body["codeValue"]), ("namespace", body["namespace"])]
    return DocumentIdentity(elements, descriptor_natural_key(uri), descriptor_id(name, uri))


def descriptor_id(name: ResourceName, uri: str) -> UUID:
    """The referential id of a descriptor of this type; the case of the URI is irrelevant."""
    return _descriptor_id(name.project, name.resource, uri)


def id_of_key(name: ResourceName, elements: Sequence[tuple[str, str]]) -> UUID:
    """The referential id of a resource that is no descriptor, for the elements of its natural key, sorted by path."""
    return _Identities(name, [path for path, _ in elements]).identify([value for _, value in elements])[1]


# Most bodies contain the same few descriptors.
@lru_cache(maxsize=16_384)
def _descriptor_id(project: str, resource: str, uri: str) -> UUID:
    return referential_id(project, resource, descriptor_natural_key(comparable(uri)))


def _value(body: dict[str, Any], steps: Path) -> Any:
    value: Any = body
    try:
        for step in steps:
            value = value[step]
    except (KeyError, TypeError):
        raise DataValidationFailed([violations.required(concrete(steps, ()))]) from None
    return value


class _Identities:
    """Computes the identities of one resource, whose key has these paths; values are passed in the same order."""

    def __init__(self, name: ResourceName, paths: Sequence[str]) -> None:
        self._name = name
        self._form = KeyForm(paths)
        self._are_descriptors = [is_descriptor_name(path) for path in paths]
        self._has_descriptor = any(self._are_descriptors)

    def identify(self, values: Sequence[str]) -> tuple[str, UUID]:
        """The natural key, and the referential id, in which descriptors are in their comparable form."""
        hashed = key = self._form.natural_key(values)
        if self._has_descriptor:
            which = zip(values, self._are_descriptors, strict=True)
            hashed = self._form.natural_key([comparable(value) if is_uri else value for value, is_uri in which])
        return key, referential_id(self._name.project, self._name.resource, hashed)


def normalize_case(body: dict[str, Any], references: Iterable[DocumentReference], stored_uris: StoredUris) -> None:
    """Replace, in place, every descriptor value of `body` whose stored descriptor differs in case."""
    descriptors = [reference for reference in references if reference.value is not None]
    if not descriptors:
        return
    stored = stored_uris([reference.referential_id for reference in descriptors])
    for reference in descriptors:
        uri = stored.get(reference.referential_id)
        if uri is not None and uri != reference.value:
            _replace(body, reference, uri)


def _replace(body: dict[str, Any], reference: DocumentReference, uri: str) -> None:
    place: Any = body
    indexes = iter(reference.indexes)
    for step in reference.steps[:-1]:
        place = place[next(indexes) if step == ALL_ITEMS else step]
    place[reference.steps[-1]] = uri


# In place of an element that is missing or has the wrong type.
MISSING = "?"
_LONGEST = 300
_KEY_OF_DESCRIPTORS = (("codeValue", ("codeValue",)), ("namespace", ("namespace",)))
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float, Decimal),
    "boolean": (bool,),
}
_FORMATS = {
    "date": re.compile(r"\d{4}-\d{2}-\d{2}"),
    "date-time": re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z"),
    "time": re.compile(r"\d{2}:\d{2}:\d{2}"),
}


@dataclass(frozen=True, slots=True)
class PartialIdentity:
    """`natural_key` has `?` for what cannot be read, None if nothing can; then, or with one `?`, there is no
    `referential_id`."""

    natural_key: str | None = None
    referential_id: UUID | None = None
    organization: int | None = None


class PartialIdentityReader:
    """Reads coerced bodies of one resource; compiled once."""

    def __init__(self, resource: Resource, extractor: Extractor, securables: SecurablesExtractor) -> None:
        paths = sorted((path.without_root(), path.steps) for path in resource.identity)
        key: Sequence[tuple[str, Path]] = _KEY_OF_DESCRIPTORS if resource.is_descriptor else paths
        self._key = [(name, steps, find_schema(resource.json_schema, steps) or {}) for name, steps in key]
        self._extractor = extractor
        self._securables = securables

    def read(self, body: Mapping[str, Any]) -> PartialIdentity:
        """Raises nothing, whatever the body is."""
        elements = [(name, _text(body, steps, schema)) for name, steps, schema in self._key]
        organization = self._securables.organization(body)
        if all(value == MISSING for _, value in elements):
            return PartialIdentity(organization=organization)
        if any(value == MISSING for _, value in elements):
            return PartialIdentity(natural_key(elements), organization=organization)
        identity = self._extractor.own_identity(dict(body))
        return PartialIdentity(identity.natural_key, identity.referential_id, organization)


def _text(body: Mapping[str, Any], steps: Path, schema: Mapping[str, Any]) -> str:
    for _, value in values_at(body, steps):
        if _fits(value, schema):
            return as_text(value)
    return MISSING


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    type_ = schema.get("type", "string")
    if not isinstance(value, _TYPES.get(type_, ())) or (isinstance(value, bool) and type_ != "boolean"):
        return False
    if not isinstance(value, str):
        return True
    form = _FORMATS.get(schema.get("format", ""))
    return 0 < len(value) <= _LONGEST and "\0" not in value and (form is None or form.fullmatch(value) is not None)
