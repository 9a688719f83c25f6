"""Validation by the JSON schemas of resources, and the paths in them."""

import re

import jsonschema_rs

from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath


def validator(schema: dict) -> jsonschema_rs.Draft202012Validator:
    """Accepts Ed-Fi times, which have no zone, unlike those of JSON Schema."""
    formats = {"time": lambda text: re.fullmatch(r"\d\d:\d\d:\d\d", text) is not None}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True, formats=formats)


def exists(path: JsonPath, schema: dict) -> bool:
    """Whether the schema describes a member at this path."""
    for step in path.steps:
        schema = schema.get("items", {}) if step == ALL_ITEMS else schema.get("properties", {}).get(step)
        if not schema:
            return False
    return True
