"""The declarations of one file before names are resolved: builder.py makes them, linker.py turns them into the model.

A draft has the model's value as far as the file alone determines it, and the unresolved names.
"""

from __future__ import annotations

from dataclasses import dataclass

from edfi_api.model.metaed.errors import Problem
from edfi_api.model.metaed.model import Domain, Entity, EntityKind, Interchange, Property, SourceLocation


@dataclass(frozen=True, slots=True)
class WrittenName:
    """A name as written, with its namespace if it is qualified."""

    namespace: str
    name: str
    place: SourceLocation

    def __str__(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class PropertyDraft:
    """A property without target, limits of its shared type and inherited documentation."""

    property: Property
    reference: WrittenName | None = None
    inherits_documentation: bool = False


@dataclass(frozen=True, slots=True)
class EntityDraft:
    """An entity without properties and base; `queryable only` declarations are among the properties."""

    entity: Entity
    properties: tuple[PropertyDraft, ...]
    base: WrittenName | None = None


@dataclass(frozen=True, slots=True)
class DomainItem:
    """One line of a domain: a name and the possible kinds of its entity."""

    kinds: tuple[EntityKind, ...]
    reference: WrittenName


@dataclass(frozen=True, slots=True)
class DomainDraft:
    """A domain or subdomain without its entities."""

    domain: Domain
    place: SourceLocation
    items: tuple[DomainItem, ...]


@dataclass(frozen=True, slots=True)
class InterchangeItemDraft:
    """One line of an interchange."""

    kinds: tuple[EntityKind, ...]
    reference: WrittenName
    is_identity: bool


@dataclass(frozen=True, slots=True)
class InterchangeDraft:
    """An interchange without its items; `base` is the interchange that additions extend."""

    interchange: Interchange
    items: tuple[InterchangeItemDraft, ...]
    base: WrittenName | None = None


@dataclass(frozen=True, slots=True)
class FileDraft:
    """All that one file declares, in its order."""

    entities: tuple[EntityDraft, ...]
    domains: tuple[DomainDraft, ...]
    interchanges: tuple[InterchangeDraft, ...]
    problems: tuple[Problem, ...]
