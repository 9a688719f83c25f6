"""Property paths → JSON paths of their values and objects, in the bodies of each resource."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from edfi_api.core.documents.securables import SecurableKind, groups
from edfi_api.model.metaed.model import ADDITIONS_KINDS, Entity, EntityKey, EntityKind, Model, PropertyType
from edfi_api.model.surface.declarations import Declarations
from edfi_api.model.surface.identity import Identities
from edfi_api.model.surface.interchange import PathMap, published_paths
from edfi_api.model.surface.naming import EXTENSIONS, extension_key
from edfi_api.model.surface.path_table import (
    ROOT,
    DocumentBody,
    Documents,
    Member,
    PathTable,
    PropertyPath,
    additions_tables,
    document_table,
)
from edfi_api.model.surface.references import is_required
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource, ResourceName, Surface

# The condition of the index over the numbers of people, which queries for one person must not be able to use. In an ODS
# they have 32 bits.
IS_NUMBERED_PERSON = "{0}.is_person AND {0}.id BETWEEN 1 AND 2147483647"
# The people whose numbers are columns of `document`.
PEOPLE = (SecurableKind.STUDENT, SecurableKind.CONTACT, SecurableKind.STAFF)


@dataclass(frozen=True, slots=True, eq=False)
class _Scope:
    """The part of a body that one declaration, an entity or additions to it, contributes: values and objects by
    property path.

    `extension_key` is set for additions; an object of a common has theirs below it.
    """

    table: PathTable
    objects: Mapping[PropertyPath, JsonPath]
    extension_key: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ResourceBody:
    """The paths of one resource's bodies; `number` is that of its resource type.

    `securables` are the paths of the values, always equal, that the column of this name in `document` holds; `person`
    is the kind of person that the documents are.
    """

    entity: Entity
    resource: Resource
    number: int
    securables: Mapping[SecurableKind, frozenset[JsonPath]]
    person: SecurableKind | None
    scopes: Mapping[EntityKey, _Scope]
    renamed: Mapping[str, str]
    published: PathMap

    def value(self, owner: Entity, path: PropertyPath) -> JsonPath | None:
        """The path of a value by its property path from `owner`: the entity, a base of it, or additions to it."""
        steps = tuple(step for step in path if step)
        while steps[0] in self.renamed:
            steps = (self.renamed[steps[0]], *steps[1:])
        found = (values[0] for scope in self._scopes(owner) if (values := scope.table.values_at(steps)))
        value = next(found, None)
        return None if value is None else self.published(value.path)

    def object(self, owner: Entity, path: PropertyPath) -> JsonPath | None:
        """The path of a common or of the items of a collection."""
        found = next((scope.objects[path] for scope in self._scopes(owner) if path in scope.objects), None)
        return None if found is None else self.published(found)

    def extension(self, additions: Entity, path: PropertyPath) -> JsonPath | None:
        """The path of what additions put into the document, or into the common at this property path."""
        scope = self.scopes.get(additions.key)
        around = self.object(self.entity, path) if path else ROOT
        return None if scope is None or around is None else around / EXTENSIONS / scope.extension_key

    def is_always_there(self, path: JsonPath, place: JsonPath) -> bool:
        """Return whether every object at `place` has a value at this path, which leads through it."""
        schema = self.resource.json_schema
        for step in place.steps:
            schema = schema["items"] if step == ALL_ITEMS else schema["properties"][step]
        return is_required(JsonPath(path.steps[len(place.steps) :]), schema)

    def _scopes(self, owner: Entity) -> Iterator[_Scope]:
        if owner.key in self.scopes and owner.key != self.entity.key:
            yield self.scopes[owner.key]
        if owner.key in self.scopes or owner.kind not in ADDITIONS_KINDS:
            yield self.scopes[self.entity.key]


def _securables(resource: Resource) -> dict[SecurableKind, frozenset[JsonPath]]:
    """Return the first group of each kind, which is what the store writes."""
    found: dict[SecurableKind, frozenset[JsonPath]] = {}
    for group in groups(resource):
        found.setdefault(group[0].kind, frozenset(element.path for element in group))
    return found


def _person(resource: Resource, securables: Mapping[SecurableKind, frozenset[JsonPath]]) -> SecurableKind | None:
    if len(resource.identity) != 1 or len(resource.identity[0].steps) != 1:
        return None
    return next((kind for kind in PEOPLE if resource.identity[0] in securables.get(kind, ())), None)


class ResourceBodies:
    """The bodies of all resources that are entities, by their declaration."""

    def __init__(self, model: Model, surface: Surface, numbers: Mapping[ResourceName, int]) -> None:
        """`numbers` are those of the resource types of all resources."""
        self.model = model
        self._numbers = numbers
        self._surface = surface
        self._declarations = Declarations(model)
        self._documents = Documents(self._declarations, Identities(self._declarations))
        self._bodies = {entity.key: self._body(entity) for entity in self._declarations.resources()}

    def of(self, owner: Entity) -> list[ResourceBody]:
        """The bodies of an entity and of all its subclasses; of additions, those of the extended entity alone."""
        if owner.kind in ADDITIONS_KINDS:
            return [self._bodies[owner.base]] if owner.base in self._bodies else []
        return [self._bodies[entity.key] for entity in self._with_subclasses(owner) if entity.key in self._bodies]

    def _with_subclasses(self, entity: Entity) -> Iterator[Entity]:
        yield entity
        for subclass in self._declarations.subclasses(entity):
            yield from self._with_subclasses(subclass)

    @cached_property
    def entities_by_resource(self) -> dict[ResourceName, Entity]:
        """The declaration of each resource, descriptors and school years among them."""
        kinds = (EntityKind.DESCRIPTOR, EntityKind.SCHOOL_YEAR_ENUMERATION)
        declared = [*self._declarations.resources(), *self.model.of_kind(*kinds)]
        return {self._declarations.resource_name(entity): entity for entity in declared}

    def number(self, entity: Entity) -> int:
        """The number of the resource type of an entity or descriptor."""
        return self._numbers[self._declarations.resource_name(entity)]

    def _body(self, entity: Entity) -> ResourceBody:
        name = self._declarations.resource_name(entity)
        document = self._documents.document(entity)
        lineage = self._declarations.model.lineage(entity)
        resource = self._surface.by_name[name]
        securables = _securables(resource)
        return ResourceBody(
            entity=entity,
            resource=resource,
            number=self._numbers[name],
            securables=securables,
            person=_person(resource, securables),
            scopes=dict(self._scopes(document)),
            renamed={prop.renames: prop.full_name for base in lineage for prop in base.properties if prop.renames},
            published=published_paths(self._declarations.project(entity), name.resource),
        )

    def _scopes(self, document: DocumentBody) -> Iterator[tuple[EntityKey, _Scope]]:
        yield document.entity.key, _Scope(document_table(document), dict(_objects(document.members, ROOT, ())))
        tables = dict(zip((part.entity.key for part in document.additions), additions_tables(document), strict=True))
        members = {part.entity.key: part.members for part in document.additions}
        for additions in self._declarations.additions(document.entity):
            key = extension_key(self._declarations.project(additions).name)
            objects = _objects(members.get(additions.key, ()), ROOT / EXTENSIONS / key, ())
            empty = PathTable((), {})
            yield additions.key, _Scope(tables.get(additions.key, empty), dict(objects), key)


def _objects(
    members: Iterable[Member], place: JsonPath, property_path: PropertyPath
) -> Iterator[tuple[PropertyPath, JsonPath]]:
    """The commons, and the items of collections, by property path."""
    for member in members:
        is_common = member.prop.type is PropertyType.COMMON
        if not (is_common or member.prop.is_collection):
            continue
        path = (*property_path, *member.placed.path)
        inside = place / member.name / ALL_ITEMS if member.prop.is_collection else place / member.name
        yield path, inside
        yield from _objects(member.members, inside, path)
        for extension in member.extensions:
            yield from _objects(extension.members, inside / EXTENSIONS / extension.key, path)
