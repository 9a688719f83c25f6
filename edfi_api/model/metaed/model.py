"""The linked MetaEd model: the declarations of the projects, as frozen values.

Elements refer to each other by key, never by object, so a model is a plain tree that can be compared, hashed and
written to disk; `Model.target` and `Model.base` resolve the keys. Terms are those of the language: entity and property.
`edfi_api.model.surface` derives the API from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

CORE_NAMESPACE = "EdFi"
# Reserved for descriptors, and for the members of documents that hold one.
DESCRIPTOR_SUFFIX = "Descriptor"


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A place in a source file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class EntityKind(StrEnum):
    """The kinds of declarations that affect the API; abstract entities are domain entities with a flag."""

    DOMAIN_ENTITY = "domain entity"
    DOMAIN_ENTITY_SUBCLASS = "domain entity subclass"
    DOMAIN_ENTITY_ADDITIONS = "domain entity additions"
    ASSOCIATION = "association"
    ASSOCIATION_SUBCLASS = "association subclass"
    ASSOCIATION_ADDITIONS = "association additions"
    COMMON = "common"
    COMMON_SUBCLASS = "common subclass"
    COMMON_ADDITIONS = "common additions"
    CHOICE = "choice"
    DESCRIPTOR = "descriptor"
    ENUMERATION = "enumeration"
    SCHOOL_YEAR_ENUMERATION = "school year enumeration"
    SHARED_STRING = "shared string"
    SHARED_INTEGER = "shared integer"
    SHARED_DECIMAL = "shared decimal"


SUBCLASS_KINDS = frozenset(
    {EntityKind.DOMAIN_ENTITY_SUBCLASS, EntityKind.ASSOCIATION_SUBCLASS, EntityKind.COMMON_SUBCLASS}
)
ENTITY_ADDITIONS_KINDS = frozenset({EntityKind.DOMAIN_ENTITY_ADDITIONS, EntityKind.ASSOCIATION_ADDITIONS})
ADDITIONS_KINDS = frozenset(
    {EntityKind.DOMAIN_ENTITY_ADDITIONS, EntityKind.ASSOCIATION_ADDITIONS, EntityKind.COMMON_ADDITIONS}
)
SHARED_KINDS = frozenset({EntityKind.SHARED_STRING, EntityKind.SHARED_INTEGER, EntityKind.SHARED_DECIMAL})


@dataclass(frozen=True, slots=True)
class EntityKey:
    """The unique key of an entity: different namespaces can use the same name, and so can different kinds."""

    namespace: str
    kind: EntityKind
    name: str


class PropertyType(StrEnum):
    """The type phrases of the language; the value is the phrase as it is written."""

    BOOLEAN = "bool"
    CURRENCY = "currency"
    DATE = "date"
    DATETIME = "datetime"
    DECIMAL = "decimal"
    DURATION = "duration"
    INTEGER = "integer"
    PERCENT = "percent"
    SHORT = "short"
    STRING = "string"
    TIME = "time"
    YEAR = "year"
    SHARED_DECIMAL = "shared decimal"
    SHARED_INTEGER = "shared integer"
    SHARED_SHORT = "shared short"
    SHARED_STRING = "shared string"
    ENUMERATION = "enumeration"
    SCHOOL_YEAR_ENUMERATION = "school year enumeration"
    DESCRIPTOR = "descriptor"
    COMMON = "common"
    INLINE_COMMON = "inline common"
    CHOICE = "choice"
    DOMAIN_ENTITY = "domain entity"
    ASSOCIATION = "association"

    @property
    def is_reference(self) -> bool:
        """Whether a property of this type refers to another document by its identity."""
        return self in (PropertyType.DOMAIN_ENTITY, PropertyType.ASSOCIATION)


class Cardinality(StrEnum):
    """The cardinality of a property; an association end is an IDENTITY.

    A QUERYABLE_ONLY declaration is not a property of the entity but a separate search key.
    """

    IDENTITY = "is part of identity"
    IDENTITY_RENAME = "renames identity property"
    REQUIRED = "is required"
    OPTIONAL = "is optional"
    REQUIRED_COLLECTION = "is required collection"
    OPTIONAL_COLLECTION = "is optional collection"
    QUERYABLE_ONLY = "is queryable only"


@dataclass(frozen=True, slots=True)
class Merge:
    """Two paths of full property names, from one entity, that denote the same value."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    place: SourceLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One property as declared, with the limits of its shared type copied in by the linker."""

    type: PropertyType
    name: str
    place: SourceLocation
    declared_by: EntityKey
    cardinality: Cardinality
    target: EntityKey | None = None
    role_name: str = ""
    shorten_to: str = ""
    renames: str = ""
    is_common_extension: bool = False
    is_queryable_field: bool = False
    min_length: int | None = None
    max_length: int | None = None
    min_value: int | Decimal | None = None
    max_value: int | Decimal | None = None
    is_big: bool = False
    total_digits: int | None = None
    decimal_places: int | None = None
    merges: tuple[Merge, ...] = ()
    documentation: str = ""
    deprecated: str | None = None

    @property
    def full_name(self) -> str:
        """Role name and name, without the role if both are equal: the step of a merge path."""
        return self.name if self.role_name == self.name else self.role_name + self.name

    @property
    def is_identity(self) -> bool:
        return self.cardinality in (Cardinality.IDENTITY, Cardinality.IDENTITY_RENAME)

    @property
    def is_search_key(self) -> bool:
        return self.is_queryable_field or self.cardinality is Cardinality.QUERYABLE_ONLY

    @property
    def is_collection(self) -> bool:
        return self.cardinality in (Cardinality.REQUIRED_COLLECTION, Cardinality.OPTIONAL_COLLECTION)

    @property
    def is_optional(self) -> bool:
        return self.cardinality in (Cardinality.OPTIONAL, Cardinality.OPTIONAL_COLLECTION)


@dataclass(frozen=True, slots=True)
class Item:
    """One value of an enumeration or of a map type."""

    value: str
    documentation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapType:
    """The closed vocabulary to which the values of a descriptor map."""

    items: tuple[Item, ...]
    is_optional: bool
    documentation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One declaration. `base` is the superclass, or for additions the extended entity.

    `search_keys` are the queryable fields and `queryable only` declarations, in order of declaration; `items` are those
    of an enumeration; `is_short` distinguishes a shared short from a shared integer.
    """

    key: EntityKey
    place: SourceLocation
    properties: tuple[Property, ...] = ()
    search_keys: tuple[Property, ...] = ()
    documentation: str = ""
    deprecated: str | None = None
    base: EntityKey | None = None
    is_abstract: bool = False
    is_inline: bool = False
    allows_primary_key_updates: bool = False
    items: tuple[Item, ...] = ()
    map_type: MapType | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_value: int | Decimal | None = None
    max_value: int | Decimal | None = None
    is_big: bool = False
    is_short: bool = False
    total_digits: int | None = None
    decimal_places: int | None = None

    @property
    def name(self) -> str:
        return self.key.name

    @property
    def kind(self) -> EntityKind:
        return self.key.kind

    @property
    def namespace(self) -> str:
        return self.key.namespace


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A domain or subdomain (`parent` set): entities that documentation shows together."""

    namespace: str
    name: str
    entities: tuple[EntityKey, ...]
    documentation: str = ""
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class InterchangeItem:
    """An allowed content of an interchange file: documents of an entity, or references to them by their identity."""

    entity: EntityKey
    is_identity: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Interchange:
    """A kind of exchange file. Additions have the name of what they extend, and `extends` its namespace."""

    namespace: str
    name: str
    place: SourceLocation
    items: tuple[InterchangeItem, ...] = ()
    documentation: str = ""
    extends: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedDeviation:
    """One deviation of a standard's published surface from the derivation rules.

    `path` is the JSON path of the rules, `resource` the resource's name. Either `published_name` replaces
    the path's last step, or `is_required` replaces the one of the rules. Read from `package.json`.
    """

    resource: str
    path: str
    reason: str
    published_name: str | None = None
    is_required: bool | None = None
    place: SourceLocation = SourceLocation("package.json", 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A set of MetaEd files with its `package.json`; one namespace each.

    `tag` is the prefix of the names of an extension's XML types and schema files; the core has none. `former_names` are
    those that entities of the core had in earlier versions, with those that they have now.
    """

    name: str
    version: str
    namespace: str
    tag: str = ""
    description: str = ""
    package_name: str = ""
    is_extension: bool = False
    published_deviations: tuple[PublishedDeviation, ...] = ()
    former_names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Model:
    """All projects together, with every name resolved; the core project is first."""

    projects: tuple[Project, ...]
    entities: Mapping[EntityKey, Entity]
    domains: tuple[Domain, ...] = field(default=())
    interchanges: tuple[Interchange, ...] = field(default=())

    def project(self, namespace: str) -> Project:
        """The project of a namespace; KeyError if there is none."""
        for project in self.projects:
            if project.namespace == namespace:
                return project
        raise KeyError(namespace)

    def target(self, prop: Property) -> Entity:
        """The entity that a reference, common, descriptor or shared property names."""
        if prop.target is None:
            raise KeyError(f"{prop.full_name} has no target")
        return self.entities[prop.target]

    def base(self, entity: Entity) -> Entity | None:
        """The superclass, or for additions the extended entity."""
        return self.entities[entity.base] if entity.base is not None else None

    def of_kind(self, *kinds: EntityKind) -> Iterator[Entity]:
        """The entities of these kinds, in order of declaration."""
        return (entity for entity in self.entities.values() if entity.kind in kinds)

    def lineage(self, entity: Entity) -> Iterator[Entity]:
        """The entity, its base, the base's base and so on; stops at a cycle of bases."""
        seen: set[EntityKey] = set()
        ancestor: Entity | None = entity
        while ancestor is not None and ancestor.key not in seen:
            seen.add(ancestor.key)
            yield ancestor
            ancestor = self.base(ancestor)

    def additions(self, entity: Entity, namespace: str) -> Entity | None:
        """The additions of a namespace's project to an entity; None if there are none."""
        keys = (EntityKey(namespace, kind, entity.name) for kind in ADDITIONS_KINDS)
        declared = (self.entities[key] for key in keys if key in self.entities)
        return next((additions for additions in declared if additions.base == entity.key), None)
