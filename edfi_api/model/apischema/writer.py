"""A surface → ApiSchema files in the current format, one for each project.

The files have everything that the format provides for. It lacks the interchange elements, package names other than
Ed-Fi's, and the order of resources, which follows from their references. The keys of `documentPathsMapping`, which are
property paths in Ed-Fi's own files, are derived from JSON paths: they only have to be unique.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from typing import Any

from edfi_api.model.apischema.format import VERSION
from edfi_api.model.apischema.open_api import base_documents
from edfi_api.model.apischema.resources import arrays_of_references
from edfi_api.model.apischema.schemas import find, leaves, scalar_type
from edfi_api.model.surface.json_schema import DRAFT, JsonSchema
from edfi_api.model.surface.naming import EXTENSIONS, extension_key
from edfi_api.model.surface.references import extension_of
from edfi_api.model.surface.resource import (
    ALL_ITEMS,
    ArrayUniqueness,
    JsonPath,
    KeyPair,
    ProjectFacts,
    QueryType,
    Resource,
    ResourceKind,
    ResourceName,
    SecurableElements,
    Superclass,
    Surface,
    ValuePaths,
)

JsonObject = dict[str, Any]


def api_schema(surface: Surface, project: ProjectFacts) -> JsonObject:
    """The content of the project's file."""
    own = [resource for resource in surface.resources if resource.name.project == project.name]
    return {
        "apiSchemaVersion": VERSION,
        "projectSchema": {
            "projectName": project.name,
            "projectVersion": project.version,
            "projectEndpointName": project.endpoint,
            "description": project.description,
            "isExtensionProject": project.is_extension,
            "compatibleDsRange": surface.core_project.version if project.is_extension else None,
            "resourceSchemas": dict(sorted(_entries(surface, project))),
            "resourceNameMapping": {resource.name.resource: resource.endpoint for resource in own},
            "caseInsensitiveEndpointNameMapping": {resource.endpoint.lower(): resource.endpoint for resource in own},
            "abstractResources": {
                abstract.name.resource: {"identityJsonPaths": _texts(abstract.identity)}
                for abstract in surface.abstract_resources
                if abstract.name.project == project.name
            },
            "domains": list(project.domains),
            "educationOrganizationTypes": [name.resource for name in surface.organizations.types],
            "educationOrganizationHierarchy": _hierarchy(surface),
            **({} if project.is_extension else {"openApiBaseDocuments": base_documents(surface, project)}),
        },
    }


def _hierarchy(surface: Surface) -> JsonObject:
    parents: JsonObject = {name.resource: {} for name in surface.organizations.types}
    for parent in surface.organizations.parents:
        parents[parent.type.resource][parent.parent.resource] = str(parent.path)
    return parents


def _entries(surface: Surface, project: ProjectFacts) -> Iterator[tuple[str, JsonObject]]:
    """The resources of the project and, for an extension, its additions to those of the core."""
    core = surface.core_project.name
    for resource in surface.resources:
        if resource.name.project == project.name:
            yield resource.endpoint, _resource(resource)
        elif resource.name.project == core:
            additions = _additions(resource, project)
            if additions is not None:
                yield resource.endpoint, additions


def _resource(resource: Resource) -> JsonObject:
    is_descriptor = resource.is_descriptor
    return {
        **_common_members(Share.of(resource, None)),
        "isResourceExtension": False,
        "allowIdentityUpdates": resource.allows_identity_updates,
        "jsonSchemaForInsert": core_schema(resource.json_schema),
        "identityJsonPaths": [] if is_descriptor else _texts(resource.identity),
        "securableElements": _securable_elements(resource.securable_elements),
        "authorizationPathways": list(resource.authorization_pathways),
        "domains": list(resource.domains),
        "openApiFragments": _open_api_fragments(resource),
        "queryFieldMapping": {
            field.name: [{"path": str(path), "type": _query_type(field.type)} for path in field.paths]
            for field in resource.query_fields
        },
        **_subclass_members(resource.superclass),
    }


def _additions(resource: Resource, project: ProjectFacts) -> JsonObject | None:
    """The project's entry for a resource of the core; None if it adds nothing."""
    key = extension_key(project.name)
    members = added_members(resource.json_schema, key)
    overrides = list(added_to_commons(resource.json_schema, key))
    if members is None and not overrides:
        return None
    return {
        **_common_members(Share.of(resource, key)),
        "isResourceExtension": True,
        "allowIdentityUpdates": False,
        "jsonSchemaForInsert": _schema_of_additions(f"{project.name}.{resource.name.resource}", key, members),
        "identityJsonPaths": [],
        "securableElements": _securable_elements(SecurableElements()),
        "authorizationPathways": [],
        "domains": [],
        "openApiFragments": {},
        "isSubclass": False,
        "commonExtensionOverrides": [
            {
                "insertionLocations": [location],
                "projectEndpointName": project.endpoint,
                "schemaFragment": _object({key: fragment}),
            }
            for location, fragment in overrides
        ],
    }


def _common_members(share: Share) -> JsonObject:
    """The members common to ordinary resources and additions. Entries of descriptors are nearly empty."""
    resource = share.resource
    values = ValuePaths() if resource.is_descriptor else resource.value_paths
    return {
        "resourceName": resource.name.resource,
        "isDescriptor": resource.is_descriptor,
        "isSchoolYearEnumeration": resource.kind is ResourceKind.SCHOOL_YEAR,
        "documentPathsMapping": {} if resource.is_descriptor else dict(_document_paths(share)),
        "equalityConstraints": [
            {"sourceJsonPath": str(pair.source), "targetJsonPath": str(pair.target)}
            for pair in resource.equality_constraints
        ],
        "arrayUniquenessConstraints": list(_array_uniqueness(resource)),
        "booleanJsonPaths": _texts(values.booleans),
        "numericJsonPaths": _texts(values.numbers),
        "dateJsonPaths": _texts(values.dates),
        "dateTimeJsonPaths": _texts(values.date_times),
        "decimalPropertyValidationInfos": [
            {"path": str(limit.path), "totalDigits": limit.total_digits, "decimalPlaces": limit.decimal_places}
            for limit in resource.decimals
        ],
    }


def _schema_of_additions(title: str, key: str, members: JsonSchema | None) -> JsonSchema:
    """The form of official files: `_ext` is open, and its required members are at the root."""
    root: JsonSchema = {"$schema": DRAFT, "title": title, "description": "", **_object({})}
    if members is None:
        return root
    opened = {name: part for name, part in members.items() if name != "required"} | {"additionalProperties": True}
    root["properties"][EXTENSIONS] = _object({key: opened}) | {"additionalProperties": True}
    return root | ({"required": members["required"]} if "required" in members else {})


def _object(properties: JsonObject) -> JsonSchema:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _subclass_members(superclass: Superclass | None) -> JsonObject:
    """Return the members of a subclass about its superclass. Only domain entities rename the identity of their
    superclass.
    """
    if superclass is None:
        return {"isSubclass": False}
    (first, *_) = superclass.identity
    is_renamed = first.here != first.there
    return {
        "isSubclass": True,
        "subclassType": "domainEntity" if is_renamed else "association",
        "superclassProjectName": superclass.name.project,
        "superclassResourceName": superclass.name.resource,
        **({"superclassIdentityJsonPath": str(first.there)} if is_renamed else {}),
    }


def _document_paths(share: Share) -> Iterator[tuple[str, JsonObject]]:
    """References, descriptors, and the scalars outside of references."""
    resource, schema = share.resource, share.resource.json_schema
    common_identity = frozenset(resource.common_identity)
    identity = common_identity.union(resource.identity)
    for reference in resource.references:
        yield (
            _key(reference.path),
            {
                "isReference": True,
                "isDescriptor": False,
                **_target(reference.target),
                "referenceJsonPaths": [_pair(pair, schema) for pair in reference.identity],
                "isRequired": _is_required(reference.path, schema, common_identity),
                "isPartOfIdentity": reference.is_identity or reference.path in common_identity,
            },
        )
    descriptors = {descriptor.path: descriptor.target for descriptor in resource.descriptors}
    objects = {reference.path for reference in resource.references}
    for path, leaf in leaves(schema):
        if extension_of(path) != share.key or JsonPath(path.steps[:-1]) in objects:
            continue
        is_descriptor = path in descriptors
        yield (
            _key(path),
            {
                "isReference": is_descriptor,
                **({"isDescriptor": True, **_target(descriptors[path])} if is_descriptor else {}),
                "path": str(path),
                "type": scalar_type(leaf),
                "isRequired": _is_required(path, schema, common_identity),
                "isPartOfIdentity": path in identity,
            },
        )


def _key(path: JsonPath) -> str:
    return ".".join(step[0].upper() + step[1:] for step in path.steps if step != ALL_ITEMS)


def _key_paths(unique: ArrayUniqueness) -> Iterator[JsonPath]:
    return (JsonPath((*unique.array.steps, ALL_ITEMS, *item.steps)) for item in unique.item_paths)


def _target(name: ResourceName) -> JsonObject:
    return {"projectName": name.project, "resourceName": name.resource}


def _pair(pair: KeyPair, schema: JsonSchema) -> JsonObject:
    leaf = find(pair.here, schema) or {"type": "string"}
    return {"referenceJsonPath": str(pair.here), "identityJsonPath": str(pair.there), "type": scalar_type(leaf)}


def _is_required(path: JsonPath, schema: JsonSchema, common_identity: Set[JsonPath]) -> bool:
    """Return whether it is required in the enclosing object. The item member of an array that is not of commons
    represents the array, which the format never marks as required. The only member of a common in an array is its
    identity."""
    parent = find(JsonPath(path.steps[:-1]), schema) or {}
    has_one_member = path.steps[-2:-1] == (ALL_ITEMS,) and len(parent.get("properties", ())) == 1
    return path.steps[-1] in parent.get("required", ()) and (not has_one_member or path in common_identity)


def _array_uniqueness(resource: Resource) -> Iterator[JsonObject]:
    """An entry for each outermost array, except arrays of references alone."""
    implied = dict(arrays_of_references(resource.references, resource.json_schema))
    arrays = {u.array.steps: u for u in resource.array_uniqueness if implied.get(u.array) != u.item_paths}
    outermost = dict.fromkeys(steps[: steps.index(ALL_ITEMS)] if ALL_ITEMS in steps else steps for steps in arrays)
    return (_uniqueness(steps, arrays, start=0) for steps in outermost)


def _uniqueness(array: tuple[str, ...], arrays: dict[tuple[str, ...], ArrayUniqueness], start: int) -> JsonObject:
    """The entry of an array and those of the arrays in its items; paths begin at the step `start`."""
    inside = len(array) + 1
    nested = dict.fromkeys(
        steps[: inside + steps[inside:].index(ALL_ITEMS)] if ALL_ITEMS in steps[inside:] else steps
        for steps in arrays
        if steps[:inside] == (*array, ALL_ITEMS)
    )
    entry: JsonObject = {}
    if array in arrays:
        entry["paths"] = [str(JsonPath(path.steps[start:])) for path in _key_paths(arrays[array])]
    if nested:
        base = str(JsonPath((*array[start:], ALL_ITEMS)))
        entry["nestedConstraints"] = [{"basePath": base, **_uniqueness(steps, arrays, inside)} for steps in nested]
    return entry


def _query_type(query_type: QueryType) -> str:
    return (QueryType.STRING if query_type is QueryType.DESCRIPTOR else query_type).value


def _securable_elements(elements: SecurableElements) -> JsonObject:
    return {
        "Namespace": _texts(elements.namespace),
        "EducationOrganization": [
            {"metaEdName": element.name, "jsonPath": str(element.path)} for element in elements.education_organization
        ],
        "Student": _texts(elements.student),
        "Contact": _texts(elements.contact),
        "Staff": _texts(elements.staff),
    }


def _open_api_fragments(resource: Resource) -> JsonObject:
    """Return the fragments of OpenAPI about a resource: only the deprecation of a resource, for which the format has no
    other place.
    """
    if resource.deprecated is None:
        return {}
    name = re.sub(r"\W", "", resource.name.project) + "_" + resource.name.resource
    marks = {"x-Ed-Fi-isDeprecated": True, "x-Ed-Fi-deprecatedReasons": resource.deprecated}
    document = "descriptors" if resource.is_descriptor else "resources"
    return {document: {"components": {"schemas": {name: marks}}}}


def _texts(paths: Iterable[JsonPath]) -> list[str]:
    return [str(path) for path in paths]


@dataclass(frozen=True, slots=True)
class Share:
    """One project's part of a resource: the core with key None, an extension with its key below `_ext`.

    `resource` has only that project's paths, but the schema of all.
    """

    resource: Resource
    key: str | None

    @classmethod
    def of(cls, resource: Resource, key: str | None) -> Share:
        limits, values = resource.decimals, resource.value_paths
        return cls(
            replace(
                resource,
                references=tuple(r for r in resource.references if extension_of(r.path) == key),
                descriptors=tuple(d for d in resource.descriptors if extension_of(d.path) == key),
                equality_constraints=tuple(
                    pair
                    for pair in resource.equality_constraints
                    if (extension_of(pair.source) or extension_of(pair.target)) == key
                ),
                array_uniqueness=tuple(u for u in resource.array_uniqueness if extension_of(u.array) == key),
                common_identity=_owned(resource.common_identity, key),
                decimals=tuple(limit for limit in limits if extension_of(limit.path) == key),
                value_paths=ValuePaths(
                    booleans=_owned(values.booleans, key),
                    numbers=_owned(values.numbers, key),
                    dates=_owned(values.dates, key),
                    date_times=_owned(values.date_times, key),
                ),
            ),
            key,
        )


def _owned(paths: tuple[JsonPath, ...], key: str | None) -> tuple[JsonPath, ...]:
    return tuple(path for path in paths if extension_of(path) == key)


def core_schema(schema: JsonSchema) -> JsonSchema:
    """A copy without the additions of extensions, at the root and in the objects of commons."""
    own = copy.deepcopy(schema)
    for part in (own, *(_object_of(member) for member in own["properties"].values())):
        part.get("properties", {}).pop(EXTENSIONS, None)
    return own


def added_members(schema: JsonSchema, key: str) -> JsonSchema | None:
    """The object that the extension adds to documents."""
    extensions = schema["properties"].get(EXTENSIONS, {"properties": {}})
    added: JsonSchema | None = extensions["properties"].get(key)
    return added


def added_to_commons(schema: JsonSchema, key: str) -> Iterator[tuple[str, JsonSchema]]:
    """The places in the schema of the objects of commons that the extension adds to, each with the additions."""
    for name, member in schema["properties"].items():
        extensions = _object_of(member).get("properties", {}).get(EXTENSIONS)
        if name != EXTENSIONS and extensions is not None and key in extensions["properties"]:
            yield f"$.properties.{name}{'.items' if 'items' in member else ''}", extensions["properties"][key]


def _object_of(member: JsonSchema) -> JsonSchema:
    items: JsonSchema = member.get("items", member)
    return items
