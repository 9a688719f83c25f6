"""What keeps a model from making valid XML schemas, and what processors may object to: warnings, each with its place.

The API does not depend on the schemas, so nothing here is an error. A project with reasons against its files has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from edfi_api.model.metaed.errors import Problem, indefinite, warning
from edfi_api.model.metaed.linker import ASSOCIATIONS, COMMONS, DOMAIN_ENTITIES
from edfi_api.model.metaed.model import (
    ADDITIONS_KINDS,
    CORE_NAMESPACE,
    Cardinality,
    Entity,
    EntityKey,
    EntityKind,
    Model,
    Project,
    Property,
    PropertyType,
    SourceLocation,
)
from edfi_api.model.xsd.schema import (
    Annotation,
    ComplexType,
    Component,
    Derivation,
    Element,
    InterchangeRoot,
    Particle,
    Schema,
    SimpleType,
    Type,
    elements_of,
)

_NO_PLACE = SourceLocation("package.json", 1, 1)
_REQUIRED = (Cardinality.REQUIRED, Cardinality.REQUIRED_COLLECTION)
_INTEGERS = {"xs:short": 2**15, "xs:int": 2**31, "xs:long": 2**63}


def homographs(model: Model, project: Project) -> Iterator[Problem]:
    """The declarations of an extension under names that the core has for the same kind. Ed-Fi's tools make no files of
    such an extension either: documents of both would be written in elements of one name."""
    if not project.is_extension:
        return
    for entity in model.entities.values():
        if entity.namespace == project.namespace and entity.kind not in ADDITIONS_KINDS:
            namesakes = (EntityKey(CORE_NAMESPACE, kind, entity.name) for kind in _like(entity.kind))
            if any(key in model.entities for key in namesakes):
                kind = indefinite(_like(entity.kind)[0])
                yield _refusal(entity.place, f"'{entity.name}' is the name of {kind} of the core too", project)


def _like(kind: EntityKind) -> tuple[EntityKind, ...]:
    """The kinds that are one to those who refer to an entity: subclasses are domain entities."""
    return next((kinds for kinds in (DOMAIN_ENTITIES, ASSOCIATIONS, COMMONS) if kind in kinds), (kind,))


def contradictions(project: Project, schemas: Sequence[Schema], core: Sequence[Schema] = ()) -> Iterator[Problem]:
    """Yield why the files of a project, together with those of the core, would be no valid schemas."""
    types: dict[str, Type] = {type_.name: type_ for schema in core for type_ in schema.types()}
    for schema in schemas:
        yield from _names_taken_twice(project, schema, types)
        types |= {type_.name: type_ for type_ in schema.types()}
    yield from _files_of_one_name(project, schemas)
    for schema in schemas:
        place = _first_place(schema.components)
        for component in schema.components:
            for reason in _contradictions_in(component, types):
                yield _refusal(_place(component) or place, reason, project)


def _names_taken_twice(project: Project, schema: Schema, types: dict[str, Type]) -> Iterator[Problem]:
    """All types of a schema share one name space, simple ones too."""
    first = dict(types)
    for type_ in schema.types():
        earlier = first.setdefault(type_.name, type_)
        if earlier is not type_:
            other = f"the one declared at {earlier.place}" if earlier.place else "one that every data standard has"
            place = type_.place or earlier.place or _NO_PLACE
            yield _refusal(place, f"'{type_.name}' would be the name of two XML types, this one and {other}", project)


def _files_of_one_name(project: Project, schemas: Iterable[Schema]) -> Iterator[Problem]:
    """Files are found without regard to case. Descriptors have an interchange that cannot be declared."""
    first: dict[str, Schema] = {}
    for schema in schemas:
        earlier = first.setdefault(schema.file_name.lower(), schema)
        if earlier is not schema:
            place = _first_place((*schema.components, *earlier.components))
            yield _refusal(place, f"two interchanges would make a file {schema.file_name}", project)


def _contradictions_in(component: Component, types: dict[str, Type]) -> Iterator[str]:
    match component:
        case ComplexType():
            elements = list(elements_of(component.particles))
            yield from _unknown_types([component.base, *(element.type for element in elements)], types)
            yield from _ambiguous([*_inherited(component, types), *_with_certainty(component.particles)])
        case SimpleType():
            yield from _unknown_types([component.base], types)
            yield from _impossible_facets(component)
        case InterchangeRoot():
            yield from _unknown_types([element.type for element in component.elements], types)
            yield from _ambiguous([(element, False) for element in component.elements])


def _unknown_types(names: Iterable[str], types: dict[str, Type]) -> Iterator[str]:
    """Yield the types that the schema lacks, as it does without the shared strings of descriptors, or without additions
    to an extended common.
    """
    needed = (name for name in dict.fromkeys(names) if name and not name.startswith("xs:"))
    unknown = ", ".join(f"'{name}'" for name in needed if name not in types)
    if unknown:
        yield f"needs XML types that no declaration makes: {unknown}"


def _ambiguous(elements: Sequence[tuple[Element, bool]]) -> Iterator[str]:
    """Elements of one name in one sequence. They must have one type, and a parser must know at each of them which one
    it is: all but the last are certain to come."""
    by_name: dict[str, list[tuple[Element, bool]]] = {}
    for element, is_certain in elements:
        by_name.setdefault(element.name, []).append((element, is_certain))
    for name, same in by_name.items():
        types = {element.type for element, _ in same}
        if len(types) > 1 or not all(is_certain for _, is_certain in same[:-1]):
            yield f"there would be {len(same)} XML elements '{name}' that cannot be distinguished"


def _with_certainty(particles: Iterable[Particle]) -> Iterator[tuple[Element, bool]]:
    """The elements, and of each whether it stands there exactly once."""
    for particle in particles:
        if isinstance(particle, Element):
            yield particle, not particle.is_optional and not particle.is_repeated
        else:
            yield from ((element, False) for element in elements_of(particle.particles))


def _inherited(type_: ComplexType, types: dict[str, Type]) -> Iterator[tuple[Element, bool]]:
    """The elements of the bases; a restriction lists them all itself."""
    base = types.get(type_.base)
    if type_.derivation is Derivation.EXTENSION and isinstance(base, ComplexType):
        yield from _inherited(base, types)
        yield from _with_certainty(base.particles)


def _impossible_facets(type_: SimpleType) -> Iterator[str]:
    most = _INTEGERS.get(type_.base)
    for facet, value in type_.facets:
        if most is not None and not -most <= int(value) < most:
            yield f"{value} is no {type_.base.removeprefix('xs:')}; 'big' makes room for it"
        if facet == "totalDigits" and value == "0":
            yield "a number has at least one digit"


def incomplete_restrictions(model: Model, project: Project) -> Iterator[Problem]:
    """Common extensions that replace a required common: the restriction leaves out a required element, which XML
    Schema does not allow. Ed-Fi's files do the same, and most processors take them."""
    for entity in model.entities.values():
        if entity.namespace == project.namespace and entity.kind in ADDITIONS_KINDS:
            for prop in _required_commons_replaced(model, entity):
                message = (
                    f"'{prop.name}' is required in '{entity.name}': strict processors refuse the XML schema of this"
                    " extension, which leaves it out"
                )
                yield warning(prop.place, message)


def _required_commons_replaced(model: Model, additions: Entity) -> Iterator[Property]:
    inherited = (prop for ancestor in list(model.lineage(additions))[1:] for prop in ancestor.properties)
    required = {
        (prop.name, prop.role_name)
        for prop in inherited
        if prop.type is PropertyType.COMMON and prop.cardinality in _REQUIRED
    }
    replaced = (prop for prop in additions.properties if prop.is_common_extension)
    return (prop for prop in replaced if (prop.name, prop.role_name) in required)


def _refusal(place: SourceLocation, reason: str, project: Project) -> Problem:
    return warning(place, f"{reason}; {project.name} is served without XML schemas")


def _place(component: Component) -> SourceLocation | None:
    return None if isinstance(component, Annotation) else component.place


def _first_place(components: Iterable[Component]) -> SourceLocation:
    """Return the place to which the author is sent for what the model lacks."""
    return next((place for component in components if (place := _place(component)) is not None), _NO_PLACE)
