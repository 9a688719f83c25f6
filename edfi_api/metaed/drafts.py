"""What one file says before names are resolved: builder.py makes these, linker.py turns them into the model.

A draft holds the model's own value as far as the file alone determines it, and beside it what is still a name.
"""

from __future__ import annotations

from dataclasses import dataclass

from edfi_api.metaed.errors import Problem
from edfi_api.metaed.model import Domain, Entity, EntityKind, Interchange, Place, Property


@dataclass(frozen=True, slots=True)
class Reference:
    """A name as written, with its namespace if one stands before it."""

    namespace: str
    name: str
    place: Place

    def __str__(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class PropertyDraft:
    """A property without target, limits of its shared type and inherited documentation."""

    property: Property
    reference: Reference | None = None
    inherits_documentation: bool = False


@dataclass(frozen=True, slots=True)
class EntityDraft:
    """An entity without properties and base; what is queryable only stands among the properties."""

    entity: Entity
    properties: tuple[PropertyDraft, ...]
    base: Reference | None = None


@dataclass(frozen=True, slots=True)
class DomainItem:
    """One line of a domain: a name and the kinds it may have."""

    kinds: tuple[EntityKind, ...]
    reference: Reference


@dataclass(frozen=True, slots=True)
class DomainDraft:
    """A domain or subdomain without its entities."""

    domain: Domain
    place: Place
    items: tuple[DomainItem, ...]


@dataclass(frozen=True, slots=True)
class InterchangeItemDraft:
    """One line of an interchange."""

    kinds: tuple[EntityKind, ...]
    reference: Reference
    is_identity: bool


@dataclass(frozen=True, slots=True)
class InterchangeDraft:
    """An interchange without its items; `base` is what additions extend."""

    interchange: Interchange
    items: tuple[InterchangeItemDraft, ...]
    base: Reference | None = None


@dataclass(frozen=True, slots=True)
class FileDraft:
    """All that one file declares, in its order."""

    entities: tuple[EntityDraft, ...]
    domains: tuple[DomainDraft, ...]
    interchanges: tuple[InterchangeDraft, ...]
    problems: tuple[Problem, ...]
