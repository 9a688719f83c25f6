"""Conversion of the original Meadowlark's older format into the current one.

In the old format, a reference names its values as the target names its own, which determines the paths of both. What
the old format lacks (array uniqueness, security, decimals, hierarchy) is left empty.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from edfi_api.model.apischema import format as f
from edfi_api.model.apischema.node import Node
from edfi_api.model.surface.json_schema import EXTENSIONS

JsonObject = dict[str, Any]


class OldFile(Struct, rename="camel"):
    """All projects, by their URL segment."""

    project_schemas: dict[f.UrlSegment, Any]


class OldProject(Struct, rename="camel"):
    """The members of a project are a subset of the current ones."""

    project_name: f.ProjectName
    project_version: f.HeaderText
    resource_schemas: dict[f.UrlSegment, Any]
    description: str = ""
    is_extension_project: bool = False
    abstract_resources: dict[f.PlainName, Any] = {}


class OldAbstract(Struct, rename="camel"):
    """The identity as member names, not paths."""

    identity_path_order: list[f.PlainName]


class OldPaths(Struct, rename="camel"):
    """An entry of `documentPathsMapping`: name → path."""

    is_reference: bool
    is_descriptor: bool = False
    project_name: f.ProjectName = "Ed-Fi"
    resource_name: f.PlainName | None = None
    paths: dict[str, f.PathText] = {}


class OldResource(Struct, rename="camel"):
    """The members that differ from the current format; the others are copied."""

    resource_name: f.PlainName
    json_schema_for_insert: JsonObject
    json_schema_for_query: JsonObject = {}
    is_descriptor: bool = False
    is_subclass: bool = False
    superclass_project_name: f.ProjectName = "Ed-Fi"
    superclass_resource_name: f.PlainName | None = None
    superclass_identity_document_key: f.PlainName | None = None
    identity_fullnames: list[str] = []
    document_paths_mapping: dict[str, OldPaths] = {}


@dataclass(frozen=True, slots=True)
class _Identity:
    """The paths of a document's identity values, by the name of the value and by that of the whole property.

    The names differ by the role: the `schoolYear` of `GraduationSchoolYear` is `graduationSchoolYear` as a property.
    """

    by_name: Mapping[str, list[str]]
    by_property: Mapping[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> list[str]:
        return sorted({path for paths in self.by_name.values() for path in paths})


_Key = tuple[str, str | None]
_UNCHANGED = (
    "resourceName",
    "isDescriptor",
    "isSchoolYearEnumeration",
    "isSubclass",
    "superclassProjectName",
    "superclassResourceName",
    "equalityConstraints",
    "allowIdentityUpdates",
)


def in_current_format(whole: Node) -> Iterator[Node]:
    """A node in the current format for each project, the core first. An old file contains all related projects."""
    nodes = [whole / "projectSchemas" / segment for segment in whole.read(OldFile).project_schemas]
    projects = [(node, node.read(OldProject)) for node in nodes]
    resources: dict[_Key, OldResource] = {
        (project.project_name, resource.resource_name): resource
        for node, project in projects
        for resource in (place.read(OldResource) for place in (node / "resourceSchemas").members())
    }
    targets = dict(_targets(projects, resources))
    for node, project in projects:
        segment = node.path.rpartition(".")[2]
        yield Node(node.file, node.path, _Translation(node, project, targets).project(segment))


def _targets(
    projects: list[tuple[Node, OldProject]], resources: Mapping[_Key, OldResource]
) -> Iterator[tuple[_Key, _Identity]]:
    """The identity values of all possible reference targets."""
    for key, resource in resources.items():
        yield key, _identity(resource)
    for node, project in projects:
        for name in project.abstract_resources:
            abstract = (node / "abstractResources" / name).read(OldAbstract)
            own = _Identity({member: [f"$.{member}"] for member in abstract.identity_path_order})
            yield (project.project_name, name), _as_subclasses_say(resources, (project.project_name, name)) or own


def _as_subclasses_say(resources: Mapping[_Key, OldResource], name: _Key) -> _Identity | None:
    """The identity paths of an abstract resource, which has only names, from a subclass that renames nothing."""
    for resource in resources.values():
        superclass = (resource.superclass_project_name, resource.superclass_resource_name)
        if resource.is_subclass and superclass == name and resource.superclass_identity_document_key is None:
            return _identity(resource)
    return None


def _identity(resource: OldResource) -> _Identity:
    by_name: dict[str, list[str]] = defaultdict(list)
    by_property = {}
    for full_name in resource.identity_fullnames:
        if mapped := resource.document_paths_mapping.get(full_name):
            for member, path in mapped.paths.items():
                by_name[member].append(path)
            if len(mapped.paths) == 1:
                (by_property[full_name[:1].lower() + full_name[1:]],) = mapped.paths.values()
    return _Identity(by_name, by_property)


@dataclass(frozen=True, slots=True)
class _Translation:
    """The conversion of one project, whose references can have targets in all others."""

    node: Node
    old: OldProject
    targets: Mapping[_Key, _Identity]

    def project(self, segment: str) -> JsonObject:
        name = self.old.project_name
        return {
            "projectName": name,
            "projectVersion": self.old.project_version,
            "projectEndpointName": segment,
            "description": self.old.description,
            "isExtensionProject": self.old.is_extension_project,
            "resourceSchemas": {
                endpoint: self._resource(self.node / "resourceSchemas" / endpoint)
                for endpoint in self.old.resource_schemas
            },
            "abstractResources": {
                abstract: {"identityJsonPaths": self.targets[name, abstract].paths}
                for abstract in self.old.abstract_resources
            },
        }

    def _resource(self, place: Node) -> JsonObject:
        old = place.read(OldResource)
        new = {member: place.value[member] for member in _UNCHANGED if member in place.value}
        if old.superclass_identity_document_key is not None:
            new["superclassIdentityJsonPath"] = f"$.{old.superclass_identity_document_key}"
        return new | {
            "jsonSchemaForInsert": _without_extensions(old.json_schema_for_insert),
            "identityJsonPaths": _identity(old).paths,
            "documentPathsMapping": {
                key: self._mapped(place / "documentPathsMapping" / key, mapped)
                for key, mapped in old.document_paths_mapping.items()
            },
            "queryFieldMapping": dict(_query_fields(old.json_schema_for_query)),
        }

    def _mapped(self, place: Node, old: OldPaths) -> JsonObject:
        target = {"projectName": old.project_name, "resourceName": old.resource_name}
        if not old.is_reference:
            return {"isReference": False}
        if old.is_descriptor:
            return {"isReference": True, "isDescriptor": True, **target, "path": next(iter(old.paths.values()), None)}
        return {"isReference": True, **target, "referenceJsonPaths": self._pairs(place, old)}

    def _pairs(self, place: Node, old: OldPaths) -> list[JsonObject]:
        """Pairs by name: a value here corresponds to all values of that name in the target, except those that have a
        separate member here, named with their role."""
        target = self.targets.get((old.project_name, old.resource_name))
        if target is None:
            raise place.refusal(f"refers to {old.resource_name} of {old.project_name}, which is not in this file")
        with_role = {
            member: [target.by_property[member]]
            for member in old.paths
            if member not in target.by_name and member in target.by_property
        }
        named = {path for paths in with_role.values() for path in paths}
        others = {member: [p for p in paths if p not in named] for member, paths in target.by_name.items()}
        places = others | with_role
        pairs = [
            {"referenceJsonPath": here, "identityJsonPath": there}
            for member, here in old.paths.items()
            for there in places.get(member, ())
        ]
        return sorted(pairs, key=lambda pair: pair["identityJsonPath"])


def _without_extensions(schema: JsonObject) -> JsonObject:
    """Removes the `_ext` that accepts anything, which every old schema has."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    return {**schema, "properties": {name: part for name, part in properties.items() if name != EXTENSIONS}}


def _query_fields(schema: JsonObject) -> Iterator[tuple[str, list[JsonObject]]]:
    """The scalars at the top of the query schema, under their own names."""
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, dict) else ():
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in ("integer", "number", "boolean", "string"):
            yield name, [{"path": f"$.{name}", "type": _query_type(kind, part.get("format"))}]


def _query_type(kind: str, text_format: Any) -> str:
    if kind == "string":
        return text_format if text_format in ("date", "date-time", "time") else "string"
    return "boolean" if kind == "boolean" else "number"
