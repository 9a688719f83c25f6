"""Splits a resource by project: a surface combines what all projects declare, a file has its own project's part."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

from edfi_api.model.surface.json_schema import EXTENSIONS, JsonSchema
from edfi_api.model.surface.references import extension_of
from edfi_api.model.surface.resource import JsonPath, Resource, ValuePaths


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
