"""The parts of an XML schema that Ed-Fi's files use, as frozen values; `files` writes them down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from edfi_api.model.metaed.model import SourceLocation


class TypeGroup(StrEnum):
    """What kind of declaration a type comes from; tools read it from the annotation of the type."""

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
    """How a complex type follows from its base."""

    EXTENSION = "extension"
    RESTRICTION = "restriction"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplexType:
    """A sequence of particles, behind those of `base` if it is an extension. `place` is that of the declaration."""

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
    """A file. An annotation among its components is a heading. `imports` and `includes` name files beside it."""

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
