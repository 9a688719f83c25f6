"""The names that members have in the ODS/API, where they differ from those that Ed-Fi's compiler of today forms.

The ODS/API names the members of its documents after the columns and tables of its database (`columns`): a value is
named as its column, an object or a collection as its table without the name of the table around it, and a value of a
reference as the column of the target's key. Collections are in the plural of their last word.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace

from edfi_api.model.metaed.model import DESCRIPTOR_SUFFIX, Entity, EntityKey, Property, PropertyType
from edfi_api.model.surface.columns import ColumnPosition, KeyColumns
from edfi_api.model.surface.declarations import Declarations
from edfi_api.model.surface.deviations import rewritten
from edfi_api.model.surface.identity import Identities
from edfi_api.model.surface.json_schema import JsonSchema
from edfi_api.model.surface.naming import (
    EXTENSIONS,
    REFERENCE_SUFFIX,
    SCHOOL_YEAR_RESOURCE,
    endpoint_name,
    joined_without_overlap,
    lower_camel,
    ods_plural,
    role_prefix,
    with_suffix,
)
from edfi_api.model.surface.path_table import DocumentBody, Member, PropertyPath
from edfi_api.model.surface.query_fields import field_name
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, OtherName, Resource, Surface

_Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """An object of the body: its path, the parts of its table's name, and the prefixes of the inline commons around its
    members. The root has no table of its own: its members may be inherited."""

    path: JsonPath
    table: _Parts = ()
    context: _Parts = ()

    def around(self, member: Member) -> _Parts:
        """The table around that of a member."""
        return self.table or (_declaring(member).name,)

    def prefixes(self, member: Member) -> _Parts:
        """The prefixes of all inline commons around a member."""
        steps = (step for step in member.placed.through if step.type is PropertyType.INLINE_COMMON)
        return (*self.context, *(prefix for step in steps if (prefix := role_prefix(step))))


def ods_endpoint(entity: Entity) -> str:
    """The name of the entity's endpoint in the ODS/API; empty if it is the same."""
    name = ods_plural(lower_camel(entity.name))
    return "" if name == endpoint_name(entity.name) else name


class OdsNames:
    """Finds the members of documents that have other names in the ODS/API."""

    def __init__(self, declarations: Declarations, identities: Identities) -> None:
        self._declarations = declarations
        self._key_columns = KeyColumns(declarations, identities)
        self._keys: dict[EntityKey, dict[PropertyPath, str]] = {}

    def of(self, document: DocumentBody) -> tuple[OtherName, ...]:
        """Return the paths of the references in the body, with the last step that the ODS/API has; sorted."""
        found = [*self._of_members(document.members, _Place(JsonPath(())))]
        for added in document.additions:
            found += self._of_members(added.members, _Place(JsonPath((EXTENSIONS, added.key))))
        return tuple(sorted(found))

    def _of_members(self, members: tuple[Member, ...], place: _Place) -> Iterator[OtherName]:
        yield from _different(place.path, ((member.name, _member_name(member, place)) for member in members))
        for member in members:
            yield from self._inside(member, place)

    def _inside(self, member: Member, place: _Place) -> Iterator[OtherName]:
        prop, path = member.prop, place.path / member.name
        if prop.is_collection:
            path = path / ALL_ITEMS
        if prop.type is PropertyType.COMMON:
            inner = _Place(path, (*place.around(member), prop.role_name + prop.name), place.prefixes(member))
            yield from self._of_members(member.members, inner)
            for extension in member.extensions:
                added = _Place(path / EXTENSIONS / extension.key, inner.table, inner.context)
                yield from self._of_members(extension.members, added)
            return
        if prop.is_collection:
            yield from _different(path, [(member.item_name, _item_name(member, place))])
            path = path / member.item_name
        if prop.type.is_reference:
            yield from _different(path, self._values(member))

    def _values(self, member: Member) -> Iterator[tuple[str, str]]:
        """The values of a reference, each with the name of its column; one for several only if they agree."""
        columns = self._key(member.prop)
        names = defaultdict(set)
        for value in member.values:
            if not value.leaf.is_merged_away:
                names[value.name].add(columns.get(value.leaf.path, value.name))
        for name, others in names.items():
            yield name, others.pop() if len(others) == 1 else name

    def _key(self, reference: Property) -> dict[PropertyPath, str]:
        """The names of the columns of a target's key, by the paths of their values."""
        target = self._declarations.model.target(reference)
        if target.key not in self._keys:
            columns = self._key_columns.key_columns(target, ColumnPosition())
            # A step to the superclass is empty.
            self._keys[target.key] = {
                tuple(step for step in path if step): field_name(column) for column in columns for path in column.paths
            }
        return self._keys[target.key]


def _different(around: JsonPath, names: Iterable[tuple[str, str]]) -> Iterator[OtherName]:
    """The members of an object with other names, of which no other member has one."""
    found = dict(names)
    counts = Counter(found.values())
    for name, other in found.items():
        if other != name and counts[other] == 1 and other not in found:
            yield OtherName(around / name, other)


def _declaring(member: Member) -> EntityKey:
    return (*member.placed.through, member.prop)[0].declared_by


def _member_name(member: Member, place: _Place) -> str:
    prop, prefixes = member.prop, place.prefixes(member)
    if prop.type is PropertyType.COMMON or prop.is_collection:
        return lower_camel(_table_member(member, place))
    if prop.type.is_reference or prop.type is PropertyType.SCHOOL_YEAR_ENUMERATION:
        return lower_camel(_reference_name(prop, (*prefixes, role_prefix(prop))))
    return lower_camel(_column(prop, (*prefixes, role_prefix(prop))))


def _table_member(member: Member, place: _Place) -> str:
    """The name of a member that has a table: the table's, without that of the table around it."""
    prop, around = member.prop, place.around(member)
    own: _Parts = (prop.role_name + prop.name,)
    if prop.type is not PropertyType.COMMON:
        own = (*place.prefixes(member), *((prop.role_name,) if prop.role_name != prop.name else ()), prop.name)
    if prop.type.is_reference:
        return ods_plural("".join(own))
    name = joined_without_overlap((*around, *own)).removeprefix(joined_without_overlap(around))
    if not name[:1].isupper():  # The overlap is the whole name, or ends within a word.
        return member.name
    return ods_plural(name) if prop.is_collection else name


def _item_name(member: Member, place: _Place) -> str:
    """The single member of an item that is not a common; scalars and descriptors have no role."""
    prop, prefixes = member.prop, place.prefixes(member)
    if prop.type.is_reference or prop.type is PropertyType.SCHOOL_YEAR_ENUMERATION:
        return lower_camel(_reference_name(prop, (*prefixes, role_prefix(prop))))
    return lower_camel(_column(prop, prefixes))


def _column(prop: Property, prefixes: _Parts) -> str:
    name = with_suffix(prop.name, DESCRIPTOR_SUFFIX) if prop.type is PropertyType.DESCRIPTOR else prop.name
    return joined_without_overlap((*prefixes, name))


def _reference_name(prop: Property, prefixes: _Parts) -> str:
    target = SCHOOL_YEAR_RESOURCE if prop.type is PropertyType.SCHOOL_YEAR_ENUMERATION else prop.name
    return joined_without_overlap((*prefixes, target)) + REFERENCE_SUFFIX


def served_as_by_the_ods(surface: Surface) -> Surface:
    """The surface whose members and endpoints clients know by the names that the ODS/API gives them. An endpoint keeps
    its name if another one of its project has that of the ODS/API."""
    counts = Counter(
        (each.project_endpoint, name) for each in surface.resources for name in (each.endpoint, each.ods_endpoint)
    )

    def served(resource: Resource) -> Resource:
        is_unique = counts[resource.project_endpoint, resource.ods_endpoint] == 1
        endpoint = resource.ods_endpoint if is_unique else ""
        return replace(resource, served_names=resource.ods_names, served_endpoint=endpoint)

    resources = (served(each) if each.ods_names or each.ods_endpoint else each for each in surface.resources)
    return replace(surface, resources=tuple(resources))


def in_served_names(resource: Resource) -> Resource:
    """The resource with its schema, all its paths and its endpoint under the names that clients know; the same if it
    has no others."""
    if not (resource.served_names or resource.served_endpoint):
        return resource
    names = {other.path.steps: other.name for other in resource.served_names}

    def served(path: JsonPath) -> JsonPath:
        steps = path.steps
        return JsonPath(tuple(names.get(steps[:end], steps[end - 1]) for end in range(1, len(steps) + 1)))

    changes = {each.name: rewritten(getattr(resource, each.name), served) for each in fields(resource)}
    schema, endpoint = _renamed(resource.json_schema, names), resource.served_endpoint or resource.endpoint
    return replace(resource, **changes | {"json_schema": schema, "served_names": (), "endpoint": endpoint})


def _renamed(schema: JsonSchema, names: Mapping[tuple[str, ...], str], steps: tuple[str, ...] = ()) -> JsonSchema:
    """A schema, which may be a part of the resource's, with other names of its members."""
    if "items" in schema:
        return schema | {"items": _renamed(schema["items"], names, (*steps, ALL_ITEMS))}
    if "properties" not in schema:
        return schema
    own = {name: names.get((*steps, name), name) for name in schema["properties"]}
    members = {own[name]: _renamed(member, names, (*steps, name)) for name, member in schema["properties"].items()}
    required = {"required": sorted(own[name] for name in schema["required"])} if "required" in schema else {}
    return schema | {"properties": members} | required
