"""An extension's additions to a resource of the core: read from its entry and merged into the resource."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from edfi_api.model.apischema import format as f
from edfi_api.model.apischema.node import Node
from edfi_api.model.apischema.resources import array_uniqueness, decimals, equality_constraints, is_below, mapped_paths
from edfi_api.model.apischema.schemas import part_schema, value_paths
from edfi_api.model.surface.json_schema import JsonSchema
from edfi_api.model.surface.naming import EXTENSIONS
from edfi_api.model.surface.references import extensions_last
from edfi_api.model.surface.resource import ALL_ITEMS, ArrayUniqueness, JsonPath, Resource


@dataclass(frozen=True, slots=True)
class ResourceExtension:
    """An entry with `isResourceExtension`: `resource_name` is that of the core resource."""

    node: Node
    entry: f.ResourceEntry


def extended(core: Resource, additions: ResourceExtension, warnings: list[str]) -> Resource:
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
        _hang_in(schema, _as_meant(added, frozenset(declared.required)))


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
            _hang_in(extended_object, copy.deepcopy(fragment))


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


def _hang_in(schema: JsonSchema, extensions: JsonSchema) -> None:
    """Add an `_ext`, or extend the one that other projects added."""
    present = schema["properties"].setdefault(EXTENSIONS, {**extensions, "properties": {}})
    present["properties"] |= extensions["properties"]
    if required := {*present.get("required", ()), *extensions.get("required", ())}:
        present["required"] = sorted(required)


def _merged(present: Iterable[ArrayUniqueness], added: Iterable[ArrayUniqueness]) -> tuple[ArrayUniqueness, ...]:
    """Sorted by array, each constraint once: an addition can repeat one to attach nested ones to it."""
    return tuple(sorted(dict.fromkeys((*present, *added)), key=lambda uniqueness: str(uniqueness.array)))
