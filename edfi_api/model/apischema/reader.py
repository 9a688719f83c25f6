"""ApiSchema files → a surface, on its own or joined to that of compiled projects."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from edfi_api.model.apischema import format as f
from edfi_api.model.apischema.format import ApiSchemaError, Node, read_file
from edfi_api.model.apischema.resources import (
    array_uniqueness,
    decimals,
    equality_constraints,
    is_below,
    mapped_paths,
    resource_of,
)
from edfi_api.model.apischema.schemas import part_schema, value_paths
from edfi_api.model.surface.interchange import descriptor_as_interchange
from edfi_api.model.surface.json_schema import JsonSchema
from edfi_api.model.surface.load_order import in_load_order
from edfi_api.model.surface.naming import EXTENSIONS
from edfi_api.model.surface.query_fields import code_fields
from edfi_api.model.surface.references import extensions_last, with_key_descriptors
from edfi_api.model.surface.resource import (
    ALL_ITEMS,
    AbstractResource,
    ArrayUniqueness,
    JsonPath,
    OrganizationHierarchy,
    ParentOrganization,
    ProjectFacts,
    QueryField,
    QueryType,
    Resource,
    ResourceName,
    Surface,
)
from edfi_api.model.surface.securable import with_own_organizations

NOTHING = Surface(projects=(), resources=(), abstract_resources=())


@dataclass(frozen=True, slots=True)
class ReadProject:
    """One project of a file. Additions are resolved later, together with the resources that they extend."""

    node: Node
    schema: f.ProjectSchema
    resources: tuple[tuple[Node, Resource], ...]
    additions: tuple[_ResourceExtension, ...]

    @property
    def name(self) -> str:
        return self.schema.project_name


def read_api_schemas(files: Sequence[Path], base: Surface = NOTHING) -> tuple[Surface, tuple[str, ...]]:
    """The surface of these files together with `base`, and a line for each part of the files that it leaves out.

    Extensions add to the resources of the files and of `base`. Raises ApiSchemaError. The format has no interchange
    elements, so only the descriptors of these projects can be loaded from interchange XML.
    """
    warnings: list[str] = []
    projects = [_read_project(file) for file in files]
    projects.sort(key=lambda project: project.schema.is_extension_project)
    _check_projects(projects, base)
    core = next((facts.name for facts in base.projects if not facts.is_extension), None) or projects[0].name
    by_name = _with_additions(projects, core, _with_resources(projects, base), warnings)
    abstract = _abstract_resources(projects, base, by_name.values())
    _check_targets(projects, core, by_name, abstract)
    surface = with_organizations(_joined(projects, base, by_name, abstract), [project.schema for project in projects])
    return surface, tuple(warnings)


def _read_project(file: Path) -> ReadProject:
    whole = read_file(file)
    if isinstance(whole.value, dict) and "projectSchemas" in whole.value and "projectSchema" not in whole.value:
        raise whole.refusal(
            "an older form, which has the projects together as 'projectSchemas'; generate a file for each project in "
            f"the form of apiSchemaVersion {f.MAJOR_VERSION}.x, which has one 'projectSchema'"
        )
    version = whole.read(f.File).api_schema_version
    if version.partition(".")[0] != f.MAJOR_VERSION:
        raise whole.refusal(f"apiSchemaVersion is {version}; only versions {f.MAJOR_VERSION}.x can be read")
    node = whole / "projectSchema"
    project = node.read(f.ProjectSchema)
    resources, additions = [], []
    for endpoint in project.resource_schemas:
        place = node / "resourceSchemas" / endpoint
        entry = place.read(f.ResourceEntry)
        if entry.is_resource_extension:
            additions.append(_ResourceExtension(place, entry))
        else:
            resources.append((place, resource_of(place, entry, project, endpoint)))
    return ReadProject(node, project, tuple(resources), tuple(additions))


def _check_projects(projects: Iterable[ReadProject], base: Surface) -> None:
    """Requires exactly one core project and unique names."""
    names = {name for facts in base.projects for name in (facts.name, facts.endpoint)}
    has_core = any(not facts.is_extension for facts in base.projects)
    for project in projects:
        if has_core and not project.schema.is_extension_project:
            raise project.node.refusal("there is a data standard already: isExtensionProject is false in both")
        if not has_core and project.schema.is_extension_project:
            raise project.node.refusal("an extension needs a data standard: isExtensionProject is true here")
        has_core = True
        for name in {project.name, project.schema.project_endpoint_name}:
            if name in names:
                raise project.node.refusal(f"there is a project {name} already")
            names.add(name)


def _with_resources(projects: Iterable[ReadProject], base: Surface) -> dict[ResourceName, Resource]:
    by_name = {resource.name: resource for resource in base.resources}
    for project in projects:
        for node, resource in project.resources:
            if resource.name in by_name:
                raise node.refusal(f"there is a resource {_text(resource.name)} already")
            by_name[resource.name] = resource
    return by_name


def _with_additions(
    projects: Iterable[ReadProject], core: str, by_name: Mapping[ResourceName, Resource], warnings: list[str]
) -> dict[ResourceName, Resource]:
    result = dict(by_name)
    for project in projects:
        for additions in project.additions:
            name = ResourceName(core, additions.entry.resource_name)
            if name not in result:
                raise additions.node.refusal(f"adds to {_text(name)}, which does not exist")
            result[name] = extended(result[name], additions, warnings)
    return result


def _abstract_resources(
    projects: Iterable[ReadProject], base: Surface, resources: Iterable[Resource]
) -> dict[ResourceName, AbstractResource]:
    """All abstract resources, with the subclasses of all projects."""
    subclasses: dict[ResourceName, list[ResourceName]] = {}
    for resource in resources:
        if resource.superclass is not None:
            subclasses.setdefault(resource.superclass.name, []).append(resource.name)
    identities = {abstract.name: abstract.identity for abstract in base.abstract_resources}
    for project in projects:
        for name in project.schema.abstract_resources:
            place = project.node / "abstractResources" / name
            identities[ResourceName(project.name, name)] = _abstract_identity(place)
    return {
        name: AbstractResource(name, identity, tuple(sorted(subclasses.get(name, ()))))
        for name, identity in identities.items()
    }


def _abstract_identity(place: Node) -> tuple[JsonPath, ...]:
    entry = place.read(f.AbstractEntry)
    paths = entry.identity_json_paths or entry.identity_path_order
    if not paths:
        raise place.refusal("identityJsonPaths is missing or empty")
    return tuple(JsonPath.parse(path) for path in sorted(paths))


def _check_targets(
    projects: Iterable[ReadProject],
    core: str,
    by_name: Mapping[ResourceName, Resource],
    abstract: Mapping[ResourceName, AbstractResource],
) -> None:
    """Requires that the targets of references and superclasses exist and have the identity that is used."""
    identities = {name: set(resource.identity) for name, resource in by_name.items()}
    identities |= {name: set(resource.identity) for name, resource in abstract.items()}
    for project in projects:
        origins = [(node, resource.name) for node, resource in project.resources]
        origins += [(a.node, ResourceName(core, a.entry.resource_name)) for a in project.additions]
        for node, name in origins:
            _check_resource(node, by_name[name], by_name, identities)


def _check_resource(
    node: Node,
    resource: Resource,
    by_name: Mapping[ResourceName, Resource],
    identities: Mapping[ResourceName, set[JsonPath]],
) -> None:
    for descriptor in resource.descriptors:
        if descriptor.target not in by_name or not by_name[descriptor.target].is_descriptor:
            raise node.refusal(f"{descriptor.path} refers to {_text(descriptor.target)}, which is not a descriptor")
    keyed = [(str(reference.path), reference.target, reference.identity) for reference in resource.references]
    if resource.superclass is not None:
        keyed.append(("its superclass", resource.superclass.name, resource.superclass.identity))
    for what, target, identity in keyed:
        if target not in identities:
            raise node.refusal(f"{what} refers to {_text(target)}, which does not exist")
        if {pair.there for pair in identity} != identities[target]:
            raise node.refusal(f"{what} does not give the identity of {_text(target)}, no more and no less")


def _text(name: ResourceName) -> str:
    return f"{name.resource} of {name.project}"


def _joined(
    projects: Sequence[ReadProject],
    base: Surface,
    by_name: Mapping[ResourceName, Resource],
    abstract: Mapping[ResourceName, AbstractResource],
) -> Surface:
    abstract_resources = tuple(abstract.values())
    try:
        resources = with_key_descriptors(by_name.values(), abstract_resources)
    except RecursionError:
        message = "the identities of some resources refer to each other in a circle"
        raise ApiSchemaError(projects[0].node.file, "$", message) from None
    resources = in_load_order(map(_with_query_types, resources), abstract_resources)
    known = {entity.name for entity in base.interchange}
    new = (r for r in resources if r.is_descriptor and r.name not in known)
    return Surface(
        projects=(*base.projects, *(_facts(project.schema) for project in projects)),
        resources=resources,
        abstract_resources=abstract_resources,
        organizations=base.organizations,
        interchange=(*base.interchange, *(descriptor_as_interchange(resource) for resource in new)),
    )


def _facts(project: f.ProjectSchema) -> ProjectFacts:
    return ProjectFacts(
        name=project.project_name,
        endpoint=project.project_endpoint_name,
        version=project.project_version,
        package_name=_package_name(project),
        description=project.description,
        is_extension=project.is_extension_project,
        domains=tuple(project.domains),
    )


def _package_name(project: f.ProjectSchema) -> str:
    """Ed-Fi's names of packages: `ed-fi-model-5.2` for version 5.2.0, `ed-fi-model-3.3b` for 3.3.1-b."""
    numbers, _, suffix = project.project_version.partition("-")
    return f"{project.project_endpoint_name}-model-{'.'.join(numbers.split('.')[:2])}{suffix}"


def _with_query_types(resource: Resource) -> Resource:
    """Query fields on descriptors compare case-insensitively; the format declares them as strings. Those of
    identification codes follow from the schema."""
    descriptors = {d.path for d in (*resource.descriptors, *resource.key_descriptors)}
    fields = tuple(_typed(field, descriptors) for field in resource.query_fields)
    return replace(resource, query_fields=fields, code_fields=code_fields(resource.json_schema, fields, descriptors))


def _typed(field: QueryField, descriptors: set[JsonPath]) -> QueryField:
    is_descriptor = field.type is QueryType.STRING and not descriptors.isdisjoint(field.paths)
    return replace(field, type=QueryType.DESCRIPTOR) if is_descriptor else field


def with_organizations(surface: Surface, projects: Iterable[f.ProjectSchema]) -> Surface:
    """The surface with the organizations that the projects add.

    A file lists the types of all projects that were compiled with it. Types that are not loaded here are ignored.
    """
    types = dict.fromkeys(surface.organizations.types)
    parents = dict.fromkeys(surface.organizations.parents)
    for project in projects:
        known = _known_types(surface.abstract_resources, project)
        types |= dict.fromkeys(known[name] for name in project.education_organization_types if name in known)
        parents |= dict.fromkeys(_parents(project, known))
    abstract = {resource.name for resource in surface.abstract_resources}
    in_order = tuple(sorted(types, key=lambda name: name in abstract))
    hierarchy = OrganizationHierarchy(in_order, tuple(parents))
    return with_own_organizations(replace(surface, organizations=hierarchy))


def _known_types(
    abstract_resources: Iterable[AbstractResource], project: f.ProjectSchema
) -> Mapping[str, ResourceName]:
    """The types by their names in the file: the abstract type, which is last there, and its subclasses."""
    last = project.education_organization_types[-1:]
    found = next((abstract for abstract in abstract_resources if [abstract.name.resource] == last), None)
    return {} if found is None else {name.resource: name for name in (*found.subclasses, found.name)}


def _parents(project: f.ProjectSchema, known: Mapping[str, ResourceName]) -> Iterator[ParentOrganization]:
    for name, parents in project.education_organization_hierarchy.items():
        for parent, path in parents.items():
            if name in known and parent in known:
                yield ParentOrganization(known[name], known[parent], JsonPath.parse(path))


@dataclass(frozen=True, slots=True)
class _ResourceExtension:
    """An entry with `isResourceExtension`: `resource_name` is that of the core resource."""

    node: Node
    entry: f.ResourceEntry


def extended(core: Resource, additions: _ResourceExtension, warnings: list[str]) -> Resource:
    """The resource with the additions merged in. Identity, query fields and security do not change.

    Additions to a common that the resource does not have are left out, with a warning.
    """
    node, entry = additions.node, additions.entry
    schema = copy.deepcopy(core.json_schema)
    _merge_members(schema, node / "jsonSchemaForInsert")
    overrides = (node / "commonExtensionOverrides").items() if entry.common_extension_overrides else ()
    left_out = [place for override in overrides for place in _apply_override(schema, override, core, warnings)]
    mapped = mapped_paths(node, entry, schema, (), left_out)
    constraints = equality_constraints(entry)
    uniqueness = array_uniqueness(node, entry, mapped.references, schema)
    limits = (*core.decimals, *(limit for limit in decimals(entry) if not is_below(limit.path, left_out)))
    return replace(
        core,
        json_schema=schema,
        references=extensions_last(core.references + mapped.references),
        descriptors=extensions_last(core.descriptors + mapped.descriptors),
        equality_constraints=core.equality_constraints
        + tuple(c for c in constraints if not is_below(c.source, left_out) and not is_below(c.target, left_out)),
        array_uniqueness=_merged(
            core.array_uniqueness, (unique for unique in uniqueness if not is_below(unique.array, left_out))
        ),
        common_identity=tuple(sorted((*core.common_identity, *mapped.common_identity), key=str)),
        decimals=tuple(sorted(limits, key=lambda limit: str(limit.path))),
        value_paths=value_paths(schema),
    )


def _merge_members(schema: JsonSchema, node: Node) -> None:
    """Merges `_ext` only: other members are in the schema because an override applies to them."""
    declared = node.read(f.SchemaOfAdditions)
    if EXTENSIONS in declared.properties:
        added = part_schema(node / "properties" / EXTENSIONS)
        _add_extensions(schema, _as_meant(added, frozenset(declared.required)))


def _as_meant(extensions: JsonSchema, required: frozenset[str]) -> JsonSchema:
    """Official files leave `_ext` open and list the required additions at the root, where they have no effect.

    The intent is enforced here, as for compiled models: a project's part, if present, has to be complete, and unknown
    members are handled as elsewhere.
    """
    return {**extensions, "additionalProperties": False} | {
        "properties": {key: _closed(part, required) for key, part in extensions["properties"].items()}
    }


def _closed(part: JsonSchema, required: frozenset[str]) -> JsonSchema:
    names = sorted({*part.get("required", ()), *(required & part["properties"].keys())})
    return {**part, "additionalProperties": False} | ({"required": names} if names else {})


def _apply_override(schema: JsonSchema, node: Node, core: Resource, warnings: list[str]) -> Iterator[JsonPath]:
    """Applies the override; yields the places of commons that the core resource does not have."""
    override = node.read(f.OverrideEntry)
    fragment = part_schema(node / "schemaFragment")
    for location in override.insertion_locations:
        extended_object = _object_at(schema, location)
        if extended_object is None:
            message = f"{core.name.resource} has no object at {location}; the common extension is without effect"
            warnings.append(node.warning(message))
            yield _in_body(location)
        else:
            _add_extensions(extended_object, copy.deepcopy(fragment))


def _object_at(schema: JsonSchema, location: str) -> JsonSchema | None:
    found: Any = schema
    for step in location.split(".")[1:]:
        found = found.get(step) if isinstance(found, dict) else None
    return found if isinstance(found, dict) and found.get("type") == "object" else None


def _in_body(location: str) -> JsonPath:
    """The path in the body of a place in a schema: `$.properties.addresses.items` is `$.addresses`."""
    path = JsonPath(())
    steps = iter(location.removesuffix(".items").split(".")[1:])
    for step in steps:
        path = path / (ALL_ITEMS if step == "items" else next(steps, ""))
    return path


def _add_extensions(schema: JsonSchema, extensions: JsonSchema) -> None:
    """Add an `_ext`, or extend the one that other projects added."""
    present = schema["properties"].setdefault(EXTENSIONS, {**extensions, "properties": {}})
    present["properties"] |= extensions["properties"]
    if required := {*present.get("required", ()), *extensions.get("required", ())}:
        present["required"] = sorted(required)


def _merged(present: Iterable[ArrayUniqueness], added: Iterable[ArrayUniqueness]) -> tuple[ArrayUniqueness, ...]:
    """Sorted by array, each constraint once: an addition can repeat one to attach nested ones to it."""
    return tuple(sorted(dict.fromkeys((*present, *added)), key=lambda uniqueness: str(uniqueness.array)))
