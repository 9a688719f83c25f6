"""The file with the types of a project: `Ed-Fi-Core.xsd`, or the extended core of an extension; and
`SchemaAnnotation.xsd`, the values that annotations for tools may have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from edfi_api.model.metaed.model import (
    DESCRIPTOR_SUFFIX,
    Entity,
    EntityKind,
    Item,
    Model,
    Project,
    Property,
    PropertyType,
)
from edfi_api.model.xsd.complex_types import (
    ASSOCIATION_KINDS,
    COMMON_KINDS,
    DOMAIN_ENTITY_KINDS,
    REFERABLE_KINDS,
    ComplexTypes,
    ReferenceTypes,
)
from edfi_api.model.xsd.schema import (
    ANNOTATION_FILE,
    COMPLEX_OBJECT_TYPE,
    CORE_FILE,
    CURRENCY,
    DESCRIPTOR_REFERENCE_TYPE,
    DESCRIPTOR_TYPE,
    PERCENT,
    REFERENCE_TYPE,
    TIME_INTERVAL,
    Annotation,
    Attribute,
    ComplexType,
    Component,
    Element,
    EnumeratedValue,
    Schema,
    SimpleType,
    Type,
    TypeGroup,
    TypeNames,
    core_file,
    has_own_type,
    integer_type,
    namespace,
)

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
        self._simple_types = _SimpleTypes(model, names, project.namespace)

    def all(self) -> Iterator[Component]:
        fixed_strings, fixed_numbers = ((), ()) if self._is_extension else (_STRING_TYPES, _NUMBER_TYPES)
        yield from _section("Domain Entities", self._of_kinds(DOMAIN_ENTITY_KINDS))
        yield from _section("Descriptors", map(self._complex_types.of_descriptor, self._kinds(EntityKind.DESCRIPTOR)))
        yield from _section("Associations", self._of_kinds(ASSOCIATION_KINDS))
        if not self._is_extension:
            yield Annotation("===== Base Types (borrowed from NEIM standards) =====")
            yield from _BASE_TYPES
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


_ID = Attribute("id", "xs:ID", "A name for this, unique in the file, for others to refer to.")
_SHARED_STRINGS = (EntityKind.SHARED_STRING,)
_SHARED_NUMBERS = (EntityKind.SHARED_INTEGER, EntityKind.SHARED_DECIMAL)
_PLAIN_STRINGS = (PropertyType.STRING,)
_PLAIN_NUMBERS = (PropertyType.DECIMAL, PropertyType.INTEGER, PropertyType.SHORT)


def _descriptor_element(name: str, type_name: str, documentation: str, *, is_optional: bool = False) -> Element:
    return Element(name, type_name, Annotation(documentation), is_optional)


_BASE_TYPES = (
    ComplexType(
        name=COMPLEX_OBJECT_TYPE,
        annotation=Annotation("What all documents have.", TypeGroup.BASE),
        attributes=(_ID,),
        is_abstract=True,
    ),
    # Its shared strings `ShortDescription`, `Description` and `URI` are those of the model.
    ComplexType(
        name=DESCRIPTOR_TYPE,
        annotation=Annotation("What all descriptors have.", TypeGroup.BASE),
        particles=(
            _descriptor_element("CodeValue", "CodeValue", "The code that tells the value from others of its kind."),
            _descriptor_element("ShortDescription", "ShortDescription", "The value in a few words."),
            _descriptor_element("Description", "Description", "The value at length.", is_optional=True),
            _descriptor_element("EffectiveBeginDate", "xs:date", "The first day of its use.", is_optional=True),
            _descriptor_element("EffectiveEndDate", "xs:date", "The last day of its use.", is_optional=True),
            _descriptor_element(
                "PriorDescriptor", DESCRIPTOR_REFERENCE_TYPE, "The value that it replaces.", is_optional=True
            ),
            _descriptor_element("Namespace", "URI", "The URI of the vocabulary that it belongs to."),
        ),
        base=COMPLEX_OBJECT_TYPE,
        is_abstract=True,
    ),
    ComplexType(
        name=REFERENCE_TYPE,
        annotation=Annotation("What all references have.", TypeGroup.BASE),
        attributes=(
            _ID,
            Attribute("ref", "xs:IDREF", "The `id` of the referenced element, if the file has it."),
        ),
    ),
)


def _simple(name: str, base: str, documentation: str, **facets: str) -> SimpleType:
    annotation = Annotation(documentation, TypeGroup.SIMPLE)
    return SimpleType(name=name, annotation=annotation, base=base, facets=tuple(facets.items()))


_STRING_TYPES = (
    _simple("CodeValue", "xs:string", "The code of a descriptor's value.", minLength="1", maxLength="50"),
    _simple(
        DESCRIPTOR_REFERENCE_TYPE,
        "xs:string",
        "A value of a descriptor: its namespace, '#' and its code value.",
        minLength="1",
        maxLength="255",
    ),
    _simple(TIME_INTERVAL, "xs:duration", "A span of time."),
)


_NUMBER_TYPES = (
    _simple(CURRENCY, "xs:decimal", "An amount of money."),
    _simple(
        PERCENT,
        "xs:decimal",
        "A share of a whole: 0.5 is one half.",
        minInclusive="0",
        maxInclusive="1",
        totalDigits="5",
        fractionDigits="4",
    ),
)


class _SimpleTypes:
    """Reads the declarations of one project."""

    def __init__(self, model: Model, names: TypeNames, namespace: str) -> None:
        self._names = names
        self._entities = [entity for entity in model.entities.values() if entity.namespace == namespace]

    def strings(self) -> Iterator[SimpleType]:
        yield from self._of_kinds(_SHARED_STRINGS, _PLAIN_STRINGS)

    def numbers(self) -> Iterator[SimpleType]:
        yield from self._of_kinds(_SHARED_NUMBERS, _PLAIN_NUMBERS)

    def descriptor_references(self) -> Iterator[SimpleType]:
        for descriptor in self._of_kind(EntityKind.DESCRIPTOR):
            yield SimpleType(
                name=self._names.reference(descriptor.key),
                annotation=Annotation(
                    f"A value of {descriptor.name}: its namespace and code value.",
                    TypeGroup.EXTENDED_DESCRIPTOR_REFERENCE,
                ),
                base=DESCRIPTOR_REFERENCE_TYPE,
                place=descriptor.place,
            )

    def vocabularies(self) -> Iterator[SimpleType]:
        """Enumerations, the school years among them, and what descriptors are mapped to."""
        for entity in self._of_kind(EntityKind.ENUMERATION, EntityKind.SCHOOL_YEAR_ENUMERATION):
            yield _vocabulary(self._names.of(entity.key), entity.documentation, entity.items, entity)
        for entity in self._of_kind(EntityKind.DESCRIPTOR):
            if entity.map_type is not None:
                name, mapped = self._names.map_type(entity.key), entity.map_type
                yield _vocabulary(name, mapped.documentation, mapped.items, entity)

    def _of_kinds(self, shared: tuple[EntityKind, ...], plain: tuple[PropertyType, ...]) -> Iterator[SimpleType]:
        for entity in self._of_kind(*shared):
            yield _limited(self._names.of(entity.key), _base_of_shared(entity), entity)
        for prop in self._plain_properties(plain):
            yield _limited(self._names.of_limits(prop), _base_of_plain(prop), prop)

    def _of_kind(self, *kinds: EntityKind) -> Iterator[Entity]:
        return (entity for entity in self._entities if entity.kind in kinds)

    def _plain_properties(self, types: tuple[PropertyType, ...]) -> Iterator[Property]:
        """One for each name and type, the last declared: that is how Ed-Fi's tools choose."""
        chosen = {
            (prop.name, prop.type): prop
            for entity in self._entities
            for prop in (*entity.properties, *entity.search_keys)
            if prop.type in types and has_own_type(prop)
        }
        yield from chosen.values()


def _base_of_shared(entity: Entity) -> str:
    match entity.kind:
        case EntityKind.SHARED_STRING:
            return "xs:string"
        case EntityKind.SHARED_DECIMAL:
            return "xs:decimal"
    type_ = PropertyType.SHARED_SHORT if entity.is_short else PropertyType.SHARED_INTEGER
    return integer_type(type_, is_big=entity.is_big)


def _base_of_plain(prop: Property) -> str:
    match prop.type:
        case PropertyType.STRING:
            return "xs:string"
        case PropertyType.DECIMAL:
            return "xs:decimal"
    return integer_type(prop.type, is_big=prop.is_big)


def _limited(name: str, base: str, declared: Entity | Property) -> SimpleType:
    limits = {
        "minInclusive": declared.min_value,
        "maxInclusive": declared.max_value,
        "minLength": declared.min_length,
        "maxLength": declared.max_length,
        "totalDigits": declared.total_digits,
        "fractionDigits": declared.decimal_places,
    }
    return SimpleType(
        name=name,
        annotation=Annotation(declared.documentation, TypeGroup.SIMPLE),
        base=base,
        facets=tuple((facet, _text(limit)) for facet, limit in limits.items() if limit is not None),
        place=declared.place,
    )


def _text(limit: int | Decimal) -> str:
    """Return the limit as it was written: `0.0` is not `0`, and no exponent."""
    return f"{limit:f}" if isinstance(limit, Decimal) else str(limit)


def _vocabulary(name: str, documentation: str, items: tuple[Item, ...], declared: Entity) -> SimpleType:
    return SimpleType(
        name=name,
        annotation=Annotation(documentation, TypeGroup.ENUMERATION),
        base="xs:token",
        values=tuple(EnumeratedValue(item.value, Annotation(item.documentation)) for item in items),
        place=declared.place,
    )
