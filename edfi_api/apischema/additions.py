"""What an extension adds to a resource of the core: read from its entry, and merged into the resource."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from edfi_api.apischema import format as f
from edfi_api.apischema.node import Node
from edfi_api.apischema.resources import array_uniqueness, decimals, equality_constraints, pointers
from edfi_api.apischema.schemas import part_schema, value_paths
from edfi_api.surface.json_schema import EXTENSIONS, JsonSchema
from edfi_api.surface.references import extensions_last
from edfi_api.surface.resource import ArrayUniqueness, Resource


@dataclass(frozen=True, slots=True)
class Additions:
    """An entry with `isResourceExtension`: `resource_name` is that of the core resource."""

    node: Node
    entry: f.ResourceEntry


def extended(core: Resource, additions: Additions) -> Resource:
    """The resource with the additions merged in. Identity, query fields and security stay as they are."""
    node, entry = additions.node, additions.entry
    schema = copy.deepcopy(core.json_schema)
    _merge_members(schema, node / "jsonSchemaForInsert")
    for override in (node / "commonExtensionOverrides").items() if entry.common_extension_overrides else ():
        _apply_override(schema, override)
    references, descriptors = pointers(node, entry, schema, identity=())
    return replace(
        core,
        json_schema=schema,
        references=extensions_last(core.references + references),
        descriptors=extensions_last(core.descriptors + descriptors),
        equality_constraints=core.equality_constraints + equality_constraints(entry),
        array_uniqueness=_merged(core.array_uniqueness, array_uniqueness(node, entry, references, schema)),
        decimals=tuple(sorted((*core.decimals, *decimals(entry)), key=lambda limit: str(limit.path))),
        value_paths=value_paths(schema),
    )


def _merge_members(schema: JsonSchema, node: Node) -> None:
    """Only `_ext` is new: any other member stands there for the sake of an override."""
    declared = node.read(f.SchemaOfAdditions)
    if EXTENSIONS in declared.properties:
        added = part_schema(node / "properties" / EXTENSIONS)
        _hang_in(schema, _as_meant(added, frozenset(declared.required)))


def _as_meant(extensions: JsonSchema, required: frozenset[str]) -> JsonSchema:
    """Official files leave `_ext` open and list the required additions at the root, where they have no effect.

    What is meant is enforced here, as for compiled models: a project's part, if it is there, is complete, and unknown
    members are treated as elsewhere.
    """
    return {**extensions, "additionalProperties": False} | {
        "properties": {key: _closed(part, required) for key, part in extensions["properties"].items()}
    }


def _closed(part: JsonSchema, required: frozenset[str]) -> JsonSchema:
    names = sorted({*part.get("required", ()), *(required & part["properties"].keys())})
    return {**part, "additionalProperties": False} | ({"required": names} if names else {})


def _apply_override(schema: JsonSchema, node: Node) -> None:
    override = node.read(f.OverrideEntry)
    fragment = part_schema(node / "schemaFragment")
    for location in override.insertion_locations:
        _hang_in(_schema_at(schema, location, node), copy.deepcopy(fragment))


def _schema_at(schema: JsonSchema, location: str, node: Node) -> JsonSchema:
    found: Any = schema
    for step in location.split(".")[1:]:
        found = found.get(step) if isinstance(found, dict) else None
    if not isinstance(found, dict) or found.get("type") != "object":
        raise node.refusal(f"insertionLocations: the core resource has no object at {location}")
    return found


def _hang_in(schema: JsonSchema, extensions: JsonSchema) -> None:
    """Put in an `_ext`, beside what other projects have put there."""
    present = schema["properties"].setdefault(EXTENSIONS, {**extensions, "properties": {}})
    present["properties"] |= extensions["properties"]
    if required := {*present.get("required", ()), *extensions.get("required", ())}:
        present["required"] = sorted(required)


def _merged(present: Iterable[ArrayUniqueness], added: Iterable[ArrayUniqueness]) -> tuple[ArrayUniqueness, ...]:
    """Sorted by array, each constraint once: an addition may repeat one to hang nested ones below it."""
    return tuple(sorted(dict.fromkeys((*present, *added)), key=lambda uniqueness: str(uniqueness.array)))
