"""A surface as plain data for reading and comparing: every endpoint with every path of its bodies.

Paths are named and typed as in published OpenAPI documents, so the description of a standard can be held against
what Ed-Fi publishes for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.surface.json_schema import JsonSchema
from edfi_api.surface.query_fields import ID_FIELD
from edfi_api.surface.resource import ALL_ITEMS, JsonPath, Resource, ResourceName, Surface

ROOT = JsonPath(())
# What a JSON schema leaves open and OpenAPI clients want to know.
OPENAPI_FORMATS = {"integer": "int32", "number": "double"}
COPIED_KEYWORDS = ("minLength", "maxLength", "minimum", "maximum", "minItems", "deprecated")


def describe(surface: Surface) -> dict[str, Any]:
    """All resources by project and endpoint: `{"resources": [{"endpoint": …, "paths": {"$.schoolId": {…}}}]}`."""
    descriptors = _DescriptorTypes.of(surface)
    ordered = sorted(surface.resources, key=lambda resource: (resource.project_endpoint, resource.endpoint))
    return {"resources": [_resource(resource, descriptors) for resource in ordered]}


def table(surface: Surface) -> Iterator[str]:
    """Lines for a terminal: each resource in load order with its identity, then a sum."""
    rows = [(resource.url_path, resource.name.resource, _identity(resource)) for resource in surface.resources]
    path_width = max((len(path) for path, _, _ in rows), default=0)
    name_width = max((len(name) for _, name, _ in rows), default=0)
    for path, name, identity in rows:
        yield f"{path:<{path_width}}  {name:<{name_width}}  {identity}"
    descriptors = sum(resource.is_descriptor for resource in surface.resources)
    projects = ", ".join(f"{project.name} {project.version}" for project in surface.projects)
    yield f"{projects}: {len(rows) - descriptors} resources and {descriptors} descriptors"


def _identity(resource: Resource) -> str:
    return ", ".join(path.without_root() for path in resource.identity)


def _resource(resource: Resource, descriptors: _DescriptorTypes) -> dict[str, Any]:
    paths = _Paths(resource, descriptors.of_paths(resource))
    return {
        "project": resource.project_endpoint,
        "endpoint": resource.endpoint,
        "resourceName": resource.name.resource,
        "isDescriptor": resource.is_descriptor,
        "deprecated": resource.deprecated is not None,
        "identityPaths": [str(path) for path in resource.identity],
        "paths": {str(path): facts for path, facts in paths.of_object(ROOT, resource.json_schema)},
        "queryParameters": [field.name for field in resource.query_fields if field != ID_FIELD],
    }


@dataclass(frozen=True, slots=True)
class _DescriptorTypes:
    """Which descriptor stands at a path; inside of references the target knows."""

    by_name: Mapping[ResourceName, Resource]

    @classmethod
    def of(cls, surface: Surface) -> _DescriptorTypes:
        """An abstract resource has no paths: any of its subclasses speaks for it."""
        stand_ins = {
            abstract.name: surface.by_name[subclass]
            for abstract in surface.abstract_resources
            for subclass in abstract.subclasses[:1]
        }
        return cls({**surface.by_name, **stand_ins})

    def of_paths(self, resource: Resource) -> dict[JsonPath, str]:
        own = {path.path: path.target.resource for path in resource.descriptors}
        for reference in resource.references:
            for pair in reference.identity:
                descriptor = self._at(reference.target, pair.there)
                if descriptor is not None:
                    own[pair.here] = descriptor
        return own

    def _at(self, name: ResourceName, path: JsonPath) -> str | None:
        """The descriptor at a path of a target's identity, which may stand in a reference again."""
        resource = self.by_name.get(name)
        if resource is None:
            return None
        for descriptor in resource.descriptors:
            if descriptor.path == path:
                return descriptor.target.resource
        onwards = (
            self._at(reference.target, pair.there)
            for reference in resource.references
            for pair in reference.identity
            if pair.here == path
        )
        return next((found for found in onwards if found is not None), None)


class _Paths:
    """Walks a body's schema and says of every path what the surface knows about it."""

    def __init__(self, resource: Resource, descriptors: Mapping[JsonPath, str]) -> None:
        self._identity = frozenset(resource.identity)
        self._descriptors = descriptors
        self._references = {reference.path: reference.target.resource for reference in resource.references}
        self._item_keys = {uniqueness.array: uniqueness.item_paths for uniqueness in resource.array_uniqueness}
        self._digits = {limit.path: limit for limit in resource.decimals}

    def of_object(self, path: JsonPath, schema: JsonSchema) -> Iterator[tuple[JsonPath, dict[str, Any]]]:
        required = schema.get("required", ())
        for name, member in schema["properties"].items():
            yield path / name, {**self._facts(path / name, member), "required": name in required}
            yield from self._below(path / name, member)

    def _below(self, path: JsonPath, schema: JsonSchema) -> Iterator[tuple[JsonPath, dict[str, Any]]]:
        if schema["type"] == "array":
            yield from self.of_object(path / ALL_ITEMS, schema["items"])
        elif schema["type"] == "object":
            yield from self.of_object(path, schema)

    def _facts(self, path: JsonPath, schema: JsonSchema) -> dict[str, Any]:
        facts: dict[str, Any] = {"type": schema["type"]}
        value_format = schema.get("format", OPENAPI_FORMATS.get(schema["type"]))
        if value_format is not None:
            facts["format"] = value_format
        facts |= {keyword: schema[keyword] for keyword in COPIED_KEYWORDS if keyword in schema}
        if path in self._digits:
            facts |= {"precision": self._digits[path].total_digits, "scale": self._digits[path].decimal_places}
        if path in self._descriptors:
            facts |= {"isDescriptor": True, "descriptor": self._descriptors[path]}
        if path in self._references:
            facts["referenceTo"] = self._references[path]
        if path in self._identity:
            facts["isIdentity"] = True
        if schema["type"] == "array":
            facts["itemKey"] = [item_path.without_root() for item_path in self._item_keys.get(path, ())]
        return facts
