"""Interchange XML of the surface: for each entity its elements, and the paths of their content in a body.

The XML uses the model's names where the API has its own: an element is named by role and name of its property
(`GradeLevel`, not `gradeLevels`), a collection repeats the element, and an inline common, which the API flattens, has
an element around its values. A choice has none. All references identify their targets in the same ways, which the
reader handles; this module only defines where the target's identity belongs.
Source: the XML schemas and sample files of the Ed-Fi data standard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from edfi_api.model.metaed.model import Entity, Project, PropertyType
from edfi_api.model.surface.naming import EXTENSIONS, element_name, map_element
from edfi_api.model.surface.path_table import DocumentBody, Member
from edfi_api.model.surface.resource import (
    ALL_ITEMS,
    InterchangeElement,
    InterchangeEntity,
    InterchangeKind,
    JsonPath,
    KeyPair,
    ReferencePath,
    Resource,
    ResourceName,
)

ROOT = JsonPath(())

# An element of every descriptor in the XML that the API does not have.
PRIOR_DESCRIPTOR = InterchangeElement("PriorDescriptor", ROOT, InterchangeKind.LEFT_OUT)

PathMap = Callable[[JsonPath], JsonPath]


def published_paths(project: Project, resource: str) -> PathMap:
    """Map the paths of the derivation rules to those of the published API, which differ in a few names."""
    renamed = {
        JsonPath.parse(deviation.path).steps: deviation.published_name
        for deviation in project.published_deviations
        if deviation.resource == resource and deviation.published_name is not None
    }

    def published(path: JsonPath) -> JsonPath:
        return JsonPath(tuple(renamed.get(path.steps[: i + 1], step) for i, step in enumerate(path.steps)))

    return published


def entity_as_interchange(
    name: ResourceName, document: DocumentBody, references: Iterable[ReferencePath], published: PathMap
) -> InterchangeEntity:
    """The elements of an entity, including those that extensions add."""
    elements = _Elements(published, {reference.path: reference for reference in references})
    found = list(elements.of(document.members, ROOT, ROOT))
    for additions in document.additions:
        found += elements.of(additions.members, ROOT / EXTENSIONS / additions.key, ROOT)
    return InterchangeEntity(name, tuple(found))


def descriptor_as_interchange(resource: Resource, declared: Entity | None = None) -> InterchangeEntity:
    """All descriptors have the same elements, one per member: `CodeValue`, `Namespace` and so on. The API has no map
    types, so the declaration, if known, determines whether the XML has one."""
    values = (
        InterchangeElement(member[0].upper() + member[1:], ROOT / member, InterchangeKind.VALUE)
        for member in resource.json_schema["properties"]
    )
    left_out = [PRIOR_DESCRIPTOR]
    if declared is not None and declared.map_type is not None:
        left_out.append(InterchangeElement(map_element(declared.name), ROOT, InterchangeKind.LEFT_OUT))
    return InterchangeEntity(resource.name, (*values, *left_out))


@dataclass(frozen=True, slots=True)
class _Elements:
    """Walks the members of one document.

    `at` is the object that contains the members, `base` the one to which the paths of their elements are relative.
    """

    published: PathMap
    references: dict[JsonPath, ReferencePath]

    def of(
        self, members: Iterable[Member], at: JsonPath, base: JsonPath, depth: int = 0
    ) -> Iterator[InterchangeElement]:
        """`depth` is the number of enclosing inline commons and choices that are already processed."""
        for step, group in groupby(members, key=lambda member: member.placed.through[depth : depth + 1]):
            if not step:
                yield from (self._element(member, at, base) for member in group)
            elif step[0].type is PropertyType.CHOICE:
                yield from self.of(group, at, base, depth + 1)
            else:
                inside = tuple(self.of(group, at, base, depth + 1))
                yield InterchangeElement(element_name(step[0]), ROOT, InterchangeKind.INLINE, inside)

    def _element(self, member: Member, at: JsonPath, base: JsonPath) -> InterchangeElement:
        place = _place(member, at)
        path = JsonPath(self.published(place).steps[len(base.steps) :])
        name = element_name(member.prop)
        match member.prop.type:
            case PropertyType.COMMON:
                return InterchangeElement(name, path, InterchangeKind.OBJECT, tuple(self._inside(member, place)))
            case PropertyType.SCHOOL_YEAR_ENUMERATION:
                return InterchangeElement(name, path / "schoolYear", InterchangeKind.SCHOOL_YEAR)
            case PropertyType.DOMAIN_ENTITY | PropertyType.ASSOCIATION:
                return self._reference(name, path, self.references[self.published(place)])
            case _:
                return InterchangeElement(name, path, InterchangeKind.VALUE)

    def _inside(self, member: Member, place: JsonPath) -> Iterator[InterchangeElement]:
        yield from self.of(member.members, place, place)
        for extension in member.extensions:
            yield from self.of(extension.members, place / EXTENSIONS / extension.key, place)

    def _reference(self, name: str, path: JsonPath, reference: ReferencePath) -> InterchangeElement:
        depth = len(reference.path.steps)
        identity = tuple(KeyPair(JsonPath(pair.here.steps[depth:]), pair.there) for pair in reference.identity)
        return InterchangeElement(name, path, InterchangeKind.REFERENCE, target=reference.target, identity=identity)


def _place(member: Member, at: JsonPath) -> JsonPath:
    """The path of one value of the member; for a collection, the path in an item."""
    place = at / member.name
    if not member.prop.is_collection:
        return place
    return place / ALL_ITEMS / member.item_name if member.item_name else place / ALL_ITEMS
