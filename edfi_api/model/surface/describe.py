"""A surface as plain data for reading and comparing: every endpoint with every path of its bodies.

Paths are named and typed as in OpenAPI documents, so that the description can be compared with Ed-Fi's published ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from edfi_api.model.surface.json_schema import JsonSchema
from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource, Surface

ROOT = JsonPath(())
# Formats that OpenAPI documents have and the JSON schemas omit.
OPENAPI_FORMATS = {"integer": "int32", "number": "double"}
COPIED_KEYWORDS = ("minLength", "maxLength", "minimum", "maximum", "minItems", "deprecated")


def describe(surface: Surface) -> dict[str, Any]:
    """All resources by project and endpoint: `{"resources": [{"endpoint": …, "paths": {"$.schoolId": {…}}}]}`."""
    ordered = sorted(surface.resources, key=lambda resource: (resource.project_endpoint, resource.endpoint))
    return {"resources": [_resource(resource) for resource in ordered]}


def table(surface: Surface) -> Iterator[str]:
    """Lines for a terminal: each resource in load order with its identity, then the total."""
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


def _resource(resource: Resource) -> dict[str, Any]:
    paths = _Paths(resource)
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


class _Paths:
    """Walks a body's schema and collects the surface's facts about every path."""

    def __init__(self, resource: Resource) -> None:
        descriptors = (*resource.descriptors, *resource.key_descriptors)
        self._identity = frozenset(resource.identity)
        self._descriptors = {descriptor.path: descriptor.target.resource for descriptor in descriptors}
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
