"""The parts of an XML schema that Ed-Fi's files use, as frozen values, which `files` writes; the names of types and
files. The types of an extension begin with its tag: `Bus` is `EXTENSION-Bus`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from edfi_api.model.metaed.model import (
    DESCRIPTOR_SUFFIX,
    Entity,
    EntityKey,
    EntityKind,
    Model,
    Project,
    Property,
    PropertyType,
    SourceLocation,
)
from edfi_api.model.surface.naming import ROOT_PREFIX, with_suffix


class TypeGroup(StrEnum):
    """The kind of declaration that a type comes from; tools read it from the annotation of the type."""

    ASSOCIATION = "Association"
    BASE = "Base"
    COMMON = "Common"
    DESCRIPTOR = "Descriptor"
    DOMAIN_ENTITY = "Domain Entity"
    ENUMERATION = "Enumeration"
    EXTENDED_DESCRIPTOR_REFERENCE = "Extended Descriptor Reference"
    EXTENDED_REFERENCE = "Extended Reference"
    IDENTITY = "Identity"
    LOOKUP = "Lookup"
    SIMPLE = "Simple"


@dataclass(frozen=True, slots=True)
class Annotation:
    """Documentation and, for tools, the group of a type or the descriptor that an element has values of."""

    documentation: str
    group: TypeGroup | None = None
    descriptor: str = ""


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a declared type."""

    name: str
    type: str
    annotation: Annotation | None = None
    is_optional: bool = False
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several particles."""

    particles: tuple[Particle, ...]
    is_optional: bool = False
    is_repeated: bool = False


Particle = Element | Choice


@dataclass(frozen=True, slots=True)
class Attribute:
    """An optional attribute."""

    name: str
    type: str
    documentation: str


class Derivation(StrEnum):
    """The derivation of a complex type from its base."""

    EXTENSION = "extension"
    RESTRICTION = "restriction"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplexType:
    """A sequence of particles, after those of `base` if it is an extension. `place` is that of the declaration."""

    name: str
    annotation: Annotation
    particles: tuple[Particle, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    base: str = ""
    derivation: Derivation = Derivation.EXTENSION
    is_abstract: bool = False
    place: SourceLocation | None = None


@dataclass(frozen=True, slots=True)
class EnumeratedValue:
    """One value that a simple type allows."""

    value: str
    annotation: Annotation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleType:
    """A restriction of `base`: by facets, each a name and a value, or to enumerated values."""

    name: str
    annotation: Annotation
    base: str
    facets: tuple[tuple[str, str], ...] = ()
    values: tuple[EnumeratedValue, ...] = ()
    place: SourceLocation | None = None


Type = ComplexType | SimpleType


@dataclass(frozen=True, slots=True)
class InterchangeRoot:
    """The root element of an interchange file, which holds any number of these elements in any order."""

    name: str
    annotation: Annotation
    elements: tuple[Element, ...]
    place: SourceLocation | None = None


Component = Annotation | Type | InterchangeRoot


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """A file. An annotation among its components is a heading. `imports` and `includes` name files in its folder."""

    file_name: str
    namespace: str
    components: tuple[Component, ...]
    version: str = ""
    imports: str = ""
    includes: str = ""
    has_annotations_for_tools: bool = False

    def types(self) -> Iterator[Type]:
        """The types that the file itself declares."""
        return (part for part in self.components if isinstance(part, ComplexType | SimpleType))


def elements_of(particles: Iterable[Particle]) -> Iterator[Element]:
    """The elements, those inside choices too."""
    for particle in particles:
        if isinstance(particle, Element):
            yield particle
        else:
            yield from elements_of(particle.particles)


COMPLEX_OBJECT_TYPE = "ComplexObjectType"
DESCRIPTOR_TYPE = "DescriptorType"
REFERENCE_TYPE = "ReferenceType"
DESCRIPTOR_REFERENCE_TYPE = "DescriptorReferenceType"
CURRENCY, PERCENT, TIME_INTERVAL = "Currency", "Percent", "TimeInterval"

ANNOTATION_FILE = "SchemaAnnotation.xsd"
CORE_FILE = "Ed-Fi-Core.xsd"

_BUILT_IN_TYPES = {
    PropertyType.BOOLEAN: "xs:boolean",
    PropertyType.CURRENCY: CURRENCY,
    PropertyType.DATE: "xs:date",
    PropertyType.DATETIME: "xs:dateTime",
    PropertyType.DURATION: TIME_INTERVAL,
    PropertyType.PERCENT: PERCENT,
    PropertyType.TIME: "xs:time",
    PropertyType.YEAR: "xs:gYear",
}
_ENUMERATIONS = frozenset({EntityKind.ENUMERATION, EntityKind.SCHOOL_YEAR_ENUMERATION})
_PRE_RELEASE = re.compile(r"-pre\.\d+$")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class TypeNames:
    """The names of all types that follow from a model."""

    def __init__(self, model: Model) -> None:
        self._prefixes = {project.namespace: tag_prefix(project) for project in model.projects}

    def of(self, entity: EntityKey) -> str:
        """The type of a declaration: of its documents, of its values."""
        name = self._prefixes[entity.namespace] + entity.name
        if entity.kind is EntityKind.DESCRIPTOR:
            return name + DESCRIPTOR_SUFFIX
        return with_suffix(name, "Type") if entity.kind in _ENUMERATIONS else name

    def identity(self, entity: EntityKey) -> str:
        return f"{self.of(entity)}IdentityType"

    def lookup(self, entity: EntityKey) -> str:
        return f"{self.of(entity)}LookupType"

    def reference(self, entity: EntityKey) -> str:
        """The type of references to an entity, and of the values of a descriptor."""
        return f"{self.of(entity)}ReferenceType"

    def map_type(self, descriptor: EntityKey) -> str:
        return f"{self._prefixes[descriptor.namespace]}{descriptor.name}MapType"

    def extension(self, namespace: str, name: str) -> str:
        """The type that a project makes of an entity or common with additions."""
        return f"{self._prefixes[namespace]}{name}Extension"

    def restriction(self, additions: Entity) -> str:
        return f"{self._prefixes[additions.namespace]}{additions.name}Restriction"

    def of_property(self, prop: Property) -> str:
        """The type of a property's element. A choice has none."""
        match prop.type:
            case PropertyType.STRING | PropertyType.DECIMAL | PropertyType.INTEGER | PropertyType.SHORT:
                return self._of_plain_property(prop)
            case PropertyType.DESCRIPTOR | PropertyType.DOMAIN_ENTITY | PropertyType.ASSOCIATION:
                return self.reference(_target(prop))
            case PropertyType.COMMON if prop.is_common_extension:
                return self.extension(prop.declared_by.namespace, prop.name)
        return _BUILT_IN_TYPES[prop.type] if prop.type in _BUILT_IN_TYPES else self.of(_target(prop))

    def _of_plain_property(self, prop: Property) -> str:
        if prop.is_big:
            return "xs:long"
        return self.of_limits(prop) if has_own_type(prop) else integer_type(prop.type, is_big=False)

    def of_limits(self, prop: Property) -> str:
        """The simple type for the limits of a property that has no shared type. Several properties may share it."""
        return self._prefixes[prop.declared_by.namespace] + prop.name


def has_own_type(prop: Property) -> bool:
    """Strings and decimals always have a simple type, integers only with a limit."""
    match prop.type:
        case PropertyType.STRING | PropertyType.DECIMAL:
            return True
        case PropertyType.INTEGER | PropertyType.SHORT:
            return prop.min_value is not None or prop.max_value is not None
    return False


def integer_type(type_: PropertyType, *, is_big: bool) -> str:
    """The type of XML Schema itself for an integer."""
    if is_big:
        return "xs:long"
    return "xs:short" if type_ in (PropertyType.SHORT, PropertyType.SHARED_SHORT) else "xs:int"


def _target(prop: Property) -> EntityKey:
    if prop.target is None:
        raise KeyError(f"{prop.full_name} has no target")
    return prop.target


def tag_prefix(project: Project) -> str:
    """`EXTENSION-`, or nothing for the core."""
    return f"{project.tag}-" if project.tag else ""


def core_file(project: Project) -> str:
    """The file with the types of a project."""
    return f"{tag_prefix(project)}Ed-Fi-Extended-Core.xsd" if project.is_extension else CORE_FILE


def interchange_file(project: Project, name: str) -> str:
    extension = "-Extension" if project.is_extension else ""
    return f"{tag_prefix(project)}{ROOT_PREFIX}-{name}{extension}.xsd"


def namespace(core_version: str) -> str:
    """The XML namespace of a data standard, which its extensions share: that of a draft is the release's."""
    return f"http://ed-fi.org/{_PRE_RELEASE.sub('', core_version)}"


def in_words(name: str) -> str:
    """`StudentAssessment` → `Student Assessment`."""
    return _WORD_START.sub(" ", name)
