"""The file with the types of a project: `Ed-Fi-Core.xsd`, or the extended core of an extension; and
`SchemaAnnotation.xsd`, the values that annotations for tools may have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from edfi_api.model.metaed.model import DESCRIPTOR_SUFFIX, Entity, EntityKind, Model, Project
from edfi_api.model.xsd.complex_types import (
    ASSOCIATION_KINDS,
    COMMON_KINDS,
    DOMAIN_ENTITY_KINDS,
    REFERABLE_KINDS,
    ComplexTypes,
    ReferenceTypes,
)
from edfi_api.model.xsd.names import ANNOTATION_FILE, CORE_FILE, TypeNames, core_file, namespace
from edfi_api.model.xsd.schema import Annotation, Component, EnumeratedValue, Schema, SimpleType, Type, TypeGroup
from edfi_api.model.xsd.simple_types import BASE_TYPES, NUMBER_TYPES, STRING_TYPES, SimpleTypes

ANNOTATION_NAMESPACE = "http://ed-fi.org/annotation"
_VERSION = "1.1.00"
_DATABASE_KEYS = ("Operational Data Store", "Data Warehouse", "Data Mart")
# The published files do not list it.
_UNLISTED_GROUP = TypeGroup.LOOKUP


def annotation_schema(model: Model, namespaces: Iterable[str]) -> Schema:
    """The file for the descriptors of these projects."""
    descriptors = {
        entity.name + DESCRIPTOR_SUFFIX
        for entity in model.of_kind(EntityKind.DESCRIPTOR)
        if entity.namespace in namespaces
    }
    return Schema(
        file_name=ANNOTATION_FILE,
        namespace=ANNOTATION_NAMESPACE,
        version=_VERSION,
        components=(
            _values("DatabaseKey", "Where data are kept.", _DATABASE_KEYS),
            _values("Descriptor", "The descriptors.", sorted(descriptors, key=str.lower)),
            _values("TypeGroup", "The groups of types.", (group for group in TypeGroup if group != _UNLISTED_GROUP)),
        ),
    )


def _values(name: str, documentation: str, values: Iterable[str]) -> SimpleType:
    return SimpleType(
        name=name,
        annotation=Annotation(documentation),
        base="xs:token",
        values=tuple(map(EnumeratedValue, values)),
    )


def core_schema(model: Model, project: Project, core_version: str) -> Schema:
    """All types that a project declares. Those of an extension refer to those of the core."""
    if project.is_extension:
        title, imports, includes = f"===== Ed-Fi {core_version} Extensions =====", "", CORE_FILE
    else:
        title, imports, includes = f"===== Ed-Fi-Core Version {core_version} ====", ANNOTATION_FILE, ""
    sections = _Sections(model, project).all()
    return Schema(
        file_name=core_file(project),
        namespace=namespace(core_version),
        components=(Annotation(title), *sections),
        imports=imports,
        includes=includes,
        has_annotations_for_tools=True,
    )


class _Sections:
    """The headings and types of one file. A section without types keeps its heading."""

    def __init__(self, model: Model, project: Project) -> None:
        names = TypeNames(model)
        self._is_extension = project.is_extension
        self._entities = [entity for entity in model.entities.values() if entity.namespace == project.namespace]
        self._complex_types = ComplexTypes(model, names)
        self._references = ReferenceTypes(model, names)
        self._simple_types = SimpleTypes(model, names, project.namespace)

    def all(self) -> Iterator[Component]:
        fixed_strings, fixed_numbers = ((), ()) if self._is_extension else (STRING_TYPES, NUMBER_TYPES)
        yield from _section("Domain Entities", self._of_kinds(DOMAIN_ENTITY_KINDS))
        yield from _section("Descriptors", map(self._complex_types.of_descriptor, self._kinds(EntityKind.DESCRIPTOR)))
        yield from _section("Associations", self._of_kinds(ASSOCIATION_KINDS))
        if not self._is_extension:
            yield Annotation("===== Base Types (borrowed from NEIM standards) =====")
            yield from BASE_TYPES
        yield from _section("Extended Reference Types", self._reference_types())
        yield from _section("Extended Descriptor Reference Types", self._simple_types.descriptor_references())
        yield from _section("Common Types", self._of_kinds(COMMON_KINDS))
        yield from _section("Enumerations and Enumerated Collections", self._simple_types.vocabularies())
        yield from _section("String Simple Types", [*self._simple_types.strings(), *fixed_strings])
        yield from _section("Numeric Simple Types", [*self._simple_types.numbers(), *fixed_numbers])

    def _kinds(self, *kinds: EntityKind) -> Iterator[Entity]:
        return (entity for entity in self._entities if entity.kind in kinds)

    def _of_kinds(self, kinds: tuple[EntityKind, ...]) -> Iterator[Type]:
        for entity in self._kinds(*kinds):
            yield from self._complex_types.of(entity)

    def _reference_types(self) -> Iterator[Type]:
        for entity in self._kinds(*REFERABLE_KINDS):
            yield from self._references.of(entity)


def _section(title: str, types: Iterable[Type]) -> Iterator[Component]:
    yield Annotation(f"===== {title} =====")
    yield from sorted(types, key=lambda type_: type_.name.lower())
