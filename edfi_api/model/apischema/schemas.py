"""The JSON schemas in a file: validation, reduction to the supported keywords, and lookups by path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from jsonschema_rs import Draft202012Validator, ValidationError
from msgspec import UNSET, Meta, Struct, UnsetType

from edfi_api.model.apischema.format import MEMBER_NAME, Node
from edfi_api.model.surface.json_schema import DRAFT, JsonSchema
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, ValuePaths

DEEPEST = 40
_Size = Annotated[int, Meta(ge=0, le=2**31)]


class Keywords(Struct, rename="camel", omit_defaults=True):
    """The keywords allowed in the schema of a body, or of a part of it."""

    type: Literal["object", "array", "string", "integer", "number", "boolean"] | UnsetType = UNSET
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    deprecated: bool | UnsetType = UNSET
    additional_properties: bool | UnsetType = UNSET
    properties: dict[str, Any] | UnsetType = UNSET
    required: list[str] | UnsetType = UNSET
    items: Any = UNSET
    min_items: _Size | UnsetType = UNSET
    max_items: _Size | UnsetType = UNSET
    unique_items: bool | UnsetType = UNSET
    min_length: _Size | UnsetType = UNSET
    max_length: _Size | UnsetType = UNSET
    minimum: int | float | UnsetType = UNSET
    maximum: int | float | UnsetType = UNSET
    format: str | UnsetType = UNSET
    pattern: str | UnsetType = UNSET


def body_schema(node: Node) -> JsonSchema:
    """The schema of a whole body; ApiSchemaError if no validator can be compiled from it."""
    schema = part_schema(node)
    if schema["type"] != "object":
        raise node.refusal("the schema of a body must be of type object")
    try:
        Draft202012Validator(schema, validate_formats=True)
    except (ValidationError, ValueError) as error:
        raise node.refusal(f"not a valid JSON schema: {error}".replace("\n", " ")) from None
    return {"$schema": DRAFT, **schema}


def part_schema(node: Node, depth: int = 0) -> JsonSchema:
    """A schema reduced to the supported keywords; others, such as `$ref`, are dropped."""
    keywords = node.read(Keywords)
    if keywords.type is UNSET:
        raise node.refusal("a schema needs a type")
    if depth > DEEPEST:
        raise node.refusal("nested too deep")
    schema: JsonSchema = msgspec.to_builtins(keywords)
    if keywords.type == "object":
        schema["properties"] = _properties(node, depth)
        if unknown := [name for name in schema.get("required", ()) if name not in schema["properties"]]:
            raise node.refusal(f"requires {unknown[0]!r}, which is none of its properties")
    if keywords.type == "array":
        if keywords.items is UNSET:
            raise node.refusal("an array needs items")
        schema = {"minItems": 0, **schema, "items": part_schema(node / "items", depth + 1)}
    return schema


def _properties(node: Node, depth: int) -> dict[str, JsonSchema]:
    if "properties" not in node.value:
        return {}
    found = node / "properties"
    if unusable := [name for name in found.value if not re.fullmatch(MEMBER_NAME, name)]:
        raise found.refusal(f"{unusable[0]!r} cannot be the name of a member: letters, digits, _ and - can")
    return {name: part_schema(found / name, depth + 1) for name in found.value}


def find(path: JsonPath, schema: JsonSchema) -> JsonSchema | None:
    """The part of the schema at a path of the body; None if there is none."""
    found: JsonSchema | None = schema
    for step in path.steps:
        if found is None:
            return None
        found = found.get("items") if step == ALL_ITEMS else found.get("properties", {}).get(step)
    return found


def leaves(schema: JsonSchema, path: JsonPath = JsonPath(())) -> Iterator[tuple[JsonPath, JsonSchema]]:  # noqa: B008
    """The paths of all scalars, with their schemas."""
    match schema["type"]:
        case "object":
            for name, member in schema["properties"].items():
                yield from leaves(member, path / name)
        case "array":
            yield from leaves(schema["items"], path / ALL_ITEMS)
        case _:
            yield path, schema


def scalar_type(schema: JsonSchema) -> str:
    """The format's name of the type: `number` for all numbers, the formats of strings, otherwise the type itself."""
    if schema["type"] in ("integer", "number"):
        return "number"
    return str(schema.get("format", "string")) if schema["type"] == "string" else str(schema["type"])


def value_paths(schema: JsonSchema) -> ValuePaths:
    """Derived from the schema: the lists in a file are the same, or incomplete."""
    paths: dict[str, list[JsonPath]] = {}
    for path, leaf in leaves(schema):
        paths.setdefault(scalar_type(leaf), []).append(path)
    return ValuePaths(*(tuple(sorted(paths.get(t, ()), key=str)) for t in ("boolean", "number", "date", "date-time")))
