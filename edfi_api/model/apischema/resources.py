"""One entry of `resourceSchemas` → a resource, as far as the entry alone determines it.

`reader` adds what depends on other resources: descriptors inside references, and the query fields that have one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edfi_api.model.apischema import format as f
from edfi_api.model.apischema.format import Node
from edfi_api.model.apischema.schemas import body_schema, find, value_paths
from edfi_api.model.surface.json_schema import JsonSchema
from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.references import is_required
from edfi_api.model.surface.resource import (
    ALL_ITEMS,
    ArrayUniqueness,
    DecimalLimit,
    DescriptorPath,
    EqualityConstraint,
    JsonPath,
    KeyPair,
    NamedPath,
    QueryField,
    QueryType,
    ReferencePath,
    Resource,
    ResourceKind,
    ResourceName,
    SecurableElements,
    Superclass,
)

# The format omits the identity of descriptors.
DESCRIPTOR_IDENTITY = (JsonPath(("namespace",)), JsonPath(("codeValue",)))


def resource_of(node: Node, entry: f.ResourceEntry, project: f.ProjectSchema, endpoint: str) -> Resource:
    """An ordinary resource."""
    schema = body_schema(node / "jsonSchemaForInsert")
    identity = _identity(entry)
    _refuse_missing(node, "identityJsonPaths", identity, schema)
    mapped = mapped_paths(node, entry, schema, identity)
    return Resource(
        name=ResourceName(project.project_name, entry.resource_name),
        project_endpoint=project.project_endpoint_name,
        endpoint=endpoint,
        kind=_kind(entry),
        json_schema=schema,
        identity=identity,
        superclass=_superclass(node, entry, identity),
        allows_identity_updates=entry.allow_identity_updates,
        references=mapped.references,
        descriptors=mapped.descriptors,
        equality_constraints=equality_constraints(entry),
        array_uniqueness=array_uniqueness(node, entry, mapped.references, schema),
        common_identity=tuple(sorted(mapped.common_identity, key=str)),
        query_fields=tuple(_query_fields(node, entry)),
        decimals=decimals(entry),
        value_paths=value_paths(schema),
        securable_elements=_securable_elements(entry.securable_elements),
        authorization_pathways=tuple(entry.authorization_pathways),
        domains=tuple(entry.domains),
        documentation=schema.get("description", ""),
        deprecated=_deprecated(entry),
    )


@dataclass(frozen=True, slots=True)
class MappedPaths:
    """The facts of `documentPathsMapping` that the schema does not have."""

    references: tuple[ReferencePath, ...]
    descriptors: tuple[DescriptorPath, ...]
    common_identity: tuple[JsonPath, ...]


def mapped_paths(
    node: Node,
    entry: f.ResourceEntry,
    schema: JsonSchema,
    identity: Iterable[JsonPath],
    left_out: Iterable[JsonPath] = (),
) -> MappedPaths:
    """All mapped paths except those below `left_out`. The schema has everything else about scalars."""
    references, descriptors, keys = [], [], frozenset(identity)
    common_identity: list[JsonPath] = []
    for place in (node / "documentPathsMapping").members() if entry.document_paths_mapping else ():
        mapped = place.read(f.PathEntry)
        here = _paths(mapped.paths)
        if any(is_below(path, left_out) for path in here):
            continue
        is_in_common = mapped.is_part_of_identity and keys.isdisjoint(here)
        if mapped.is_reference and mapped.is_descriptor:
            descriptors.append(_descriptor(place, mapped, schema, keys))
        elif mapped.is_reference:
            references.append(_reference(place, mapped, schema, keys))
            here = (references[-1].path,)
        if is_in_common:
            common_identity += here
    return MappedPaths(tuple(references), tuple(descriptors), tuple(common_identity))


def is_below(path: JsonPath, places: Iterable[JsonPath]) -> bool:
    """Return whether the path is one of the places or below one."""
    return any(path.steps[: len(place.steps)] == place.steps for place in places)


def _descriptor(place: Node, mapped: f.PathEntry, schema: JsonSchema, keys: frozenset[JsonPath]) -> DescriptorPath:
    if mapped.path is None:
        raise place.refusal("a descriptor needs a path")
    path = JsonPath.parse(mapped.path)
    if find(path, schema) is None:
        raise place.refusal(f"the schema has no {path}")
    return DescriptorPath(path, _target(place, mapped), is_required(path, schema), path in keys)


def _reference(place: Node, mapped: f.PathEntry, schema: JsonSchema, keys: frozenset[JsonPath]) -> ReferencePath:
    pairs = tuple(
        KeyPair(JsonPath.parse(pair.reference_json_path), JsonPath.parse(pair.identity_json_path))
        for pair in mapped.reference_json_paths
    )
    objects = {JsonPath(pair.here.steps[:-1]) for pair in pairs}
    if len(objects) != 1:
        raise place.refusal("all referenceJsonPaths must lie in one reference object")
    if absent := [pair.here for pair in pairs if find(pair.here, schema) is None]:
        raise place.refusal(f"the schema has no {absent[0]}")
    (path,) = objects
    is_identity = any(pair.here in keys for pair in pairs)
    return ReferencePath(path, _target(place, mapped), pairs, is_required(path, schema), is_identity)


def _target(place: Node, mapped: f.PathEntry) -> ResourceName:
    if mapped.resource_name is None:
        raise place.refusal("resourceName is missing")
    return ResourceName(mapped.project_name, mapped.resource_name)


def equality_constraints(entry: f.ResourceEntry) -> tuple[EqualityConstraint, ...]:
    return tuple(
        EqualityConstraint(JsonPath.parse(pair.source_json_path), JsonPath.parse(pair.target_json_path))
        for pair in entry.equality_constraints
    )


def decimals(entry: f.ResourceEntry) -> tuple[DecimalLimit, ...]:
    """Sorted by path. An entry without a total number of digits sets no limit."""
    return tuple(
        DecimalLimit(JsonPath.parse(info.path), info.total_digits, info.decimal_places)
        for info in sorted(entry.decimal_property_validation_infos, key=lambda info: info.path)
        if info.total_digits is not None
    )


def array_uniqueness(
    node: Node, entry: f.ResourceEntry, references: Iterable[ReferencePath], schema: JsonSchema
) -> tuple[ArrayUniqueness, ...]:
    """Sorted by array. Arrays of references have no entry in files, but their items have to be unique, too."""
    keys: dict[JsonPath, tuple[JsonPath, ...]] = {}
    for array, items in _item_keys(node, entry.array_uniqueness_constraints, ()):
        keys[array] = tuple(sorted({*keys.get(array, ()), *items}, key=str))
    keys |= dict(arrays_of_references(references, schema))
    return tuple(ArrayUniqueness(array, keys[array]) for array in sorted(keys, key=str))


def arrays_of_references(
    references: Iterable[ReferencePath], schema: JsonSchema
) -> Iterator[tuple[JsonPath, tuple[JsonPath, ...]]]:
    """Each array whose items have a reference and nothing else, with the key of its items."""
    for reference in references:
        if reference.path.steps[-2:-1] == (ALL_ITEMS,):
            array = JsonPath(reference.path.steps[:-2])
            items = find(array / ALL_ITEMS, schema)
            if items is not None and len(items["properties"]) == 1:
                start = len(array.steps) + 1
                here = {JsonPath(pair.here.steps[start:]) for pair in reference.identity}
                yield array, tuple(sorted(here, key=str))


def _item_keys(
    node: Node, entries: Iterable[f.UniquenessEntry], base: tuple[str, ...]
) -> Iterator[tuple[JsonPath, list[JsonPath]]]:
    """An entry can be about several arrays: its paths are grouped by array."""
    for entry in entries:
        inside = (*base, *JsonPath.parse(entry.base_path).steps)
        arrays: dict[JsonPath, list[JsonPath]] = defaultdict(list)
        for path in entry.paths:
            steps = JsonPath.parse(path).steps
            if ALL_ITEMS not in steps:
                raise node.refusal(f"arrayUniquenessConstraints: {path} leads into no array")
            last = len(steps) - 1 - steps[::-1].index(ALL_ITEMS)
            arrays[JsonPath(inside + steps[:last])].append(JsonPath(steps[last + 1 :]))
        yield from arrays.items()
        yield from _item_keys(node, entry.nested_constraints, inside)


def _identity(entry: f.ResourceEntry) -> tuple[JsonPath, ...]:
    if entry.is_descriptor:
        return DESCRIPTOR_IDENTITY
    return _paths(sorted(entry.identity_json_paths))


def _refuse_missing(node: Node, member: str, paths: tuple[JsonPath, ...], schema: JsonSchema) -> None:
    if not paths:
        raise node.refusal(f"{member} is missing or empty")
    if absent := [path for path in paths if find(path, schema) is None]:
        raise node.refusal(f"{member}: the schema has no {absent[0]}")


def _kind(entry: f.ResourceEntry) -> ResourceKind:
    if entry.is_descriptor:
        return ResourceKind.DESCRIPTOR
    return ResourceKind.SCHOOL_YEAR if entry.is_school_year_enumeration else ResourceKind.ENTITY


def _superclass(node: Node, entry: f.ResourceEntry, identity: tuple[JsonPath, ...]) -> Superclass | None:
    """The superclass identity: one renamed value, or all values unchanged."""
    if not entry.is_subclass:
        return None
    if entry.superclass_resource_name is None:
        raise node.refusal("superclassResourceName is missing")
    name = ResourceName(entry.superclass_project_name, entry.superclass_resource_name)
    if entry.superclass_identity_json_path is None:
        return Superclass(name, tuple(KeyPair(path, path) for path in identity))
    if len(identity) != 1:
        raise node.refusal("superclassIdentityJsonPath stands for one value, but identityJsonPaths has several")
    return Superclass(name, (KeyPair(identity[0], JsonPath.parse(entry.superclass_identity_json_path)),))


def _query_fields(node: Node, entry: f.ResourceEntry) -> Iterator[QueryField]:
    yield ID_FIELD
    types = {query_type.value: query_type for query_type in QueryType}
    for name, places in entry.query_field_mapping.items():
        if unknown := [place.type for place in places if place.type not in types]:
            raise node.refusal(f"queryFieldMapping.{name}: there is no type {unknown[0]!r}")
        if places and name != ID_FIELD.name:
            yield QueryField(name, types[places[0].type], _paths(place.path for place in places))


def _securable_elements(entry: f.SecurableEntry) -> SecurableElements:
    return SecurableElements(
        namespace=_paths(entry.namespace),
        education_organization=tuple(
            NamedPath(element.meta_ed_name, JsonPath.parse(element.json_path))
            for element in entry.education_organization
        ),
        student=_paths(entry.student),
        contact=_paths(entry.contact),
        staff=_paths(entry.staff),
    )


def _deprecated(entry: f.ResourceEntry) -> str | None:
    """The reason, if the resource's own OpenAPI schema marks it as deprecated."""
    for fragment in entry.open_api_fragments.values():
        for name, component in fragment.components.schemas.items():
            if component.is_deprecated is True and name.partition("_")[2].lower() == entry.resource_name.lower():
                return str(component.reasons)
    return None


def _paths(texts: Iterable[str]) -> tuple[JsonPath, ...]:
    return tuple(JsonPath.parse(text) for text in texts)
