"""The published JSON schema of a resource → the one that bodies are checked by, and texts that count as absent.

JSON Schema does not check the bounds of `format: int32` and `int64`, and to the published patterns of texts a character
without width is one like others.
"""

from collections.abc import Iterable
from typing import Any

from edfi_api.core.documents.blanks import VISIBLE, shows_nothing
from edfi_api.model.surface.json_schema import NOT_ONLY_BLANKS
from edfi_api.model.surface.naming import EXTENSIONS, is_descriptor_name
from edfi_api.model.surface.resource import ALL_ITEMS, ArrayUniqueness

Schema = dict[str, Any]

_INTEGER_BOUNDS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def checked_schema(schema: Schema, name: str = "") -> Schema:
    """A copy with the bounds of integers as keywords, and with patterns by which every text shows something."""
    copy = dict(schema)
    if "properties" in schema:
        copy["properties"] = {each: checked_schema(member, each) for each, member in schema["properties"].items()}
    if "items" in schema:
        copy["items"] = checked_schema(schema["items"], name)
    if schema.get("type") == "integer" and schema.get("format") in _INTEGER_BOUNDS:
        lowest, highest = _INTEGER_BOUNDS[schema["format"]]
        copy.setdefault("minimum", lowest)
        copy.setdefault("maximum", highest)
    if is_text(schema, name):
        if schema.get("pattern") in (None, NOT_ONLY_BLANKS):
            copy["pattern"] = VISIBLE
        else:
            copy["allOf"] = [{"pattern": f"^$|{VISIBLE}"}]  # The other rules refuse an empty text.
    return copy


def require_item_keys(schema: Schema, rules: Iterable[ArrayUniqueness]) -> None:
    """Make the members by which items of arrays differ required in a checked schema, as far as it has them.

    Ed-Fi's compiler makes those below an optional inline common optional; its tables do not accept them.
    """
    for rule in rules:
        for path in rule.item_paths:
            _require(schema, (*rule.array.steps, ALL_ITEMS), path.steps)


def _require(schema: Schema, around: Iterable[str], steps: Iterable[str]) -> None:
    """The members at the steps, each in the one before it, in the items that are at `around`."""
    for step in around:
        schema = schema.get("items", {}) if step == ALL_ITEMS else schema.get("properties", {}).get(step, {})
    for name in steps:
        if name not in schema.get("properties", {}):
            return
        schema["required"] = sorted({*schema.get("required", ()), name})
        schema = schema["properties"][name]


def is_text(schema: Schema, name: str) -> bool:
    """Whether values are text of any content: no dates, and no URIs of descriptors."""
    return schema.get("type") == "string" and "format" not in schema and not is_descriptor_name(name)


def drop_empty_texts(body: Any, schema: Schema) -> None:
    """Remove optional texts that show nothing from a coerced body, since they count as absent, and what has become
    empty below `_ext`.

    Runs only for bodies that are not valid.
    """
    if isinstance(body, list):
        for item in body:
            drop_empty_texts(item, schema.get("items", {}))
    if not isinstance(body, dict):
        return
    required = schema.get("required", ())
    for name, value in list(body.items()):
        member = schema.get("properties", {}).get(name, {})
        if isinstance(value, str):
            if name not in required and is_text(member, name) and shows_nothing(value):
                del body[name]
            continue
        drop_empty_texts(value, member)
        if name == EXTENSIONS and isinstance(value, dict):
            body[name] = {project: added for project, added in value.items() if added != {}}
            if not body[name]:
                del body[name]
