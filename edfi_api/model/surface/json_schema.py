"""A document's JSON schema (draft 2020-12) from its tree of members.

Each call builds a separate schema: resources share no mutable parts. JSON Schema cannot express numbers of digits;
they are in `Resource.decimals`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from edfi_api.model.metaed.model import Cardinality, Property, PropertyType
from edfi_api.model.surface.naming import EXTENSIONS
from edfi_api.model.surface.path_table import Additions, DocumentBody, Member, ReferenceMember
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath

JsonSchema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
DESCRIPTOR_MAX_LENGTH = 306
DURATION_MAX_LENGTH = 30
FIRST_SCHOOL_YEAR = 1900
LAST_SCHOOL_YEAR = 2100

# The official patterns use `.`, which would refuse line breaks inside a text as if they were blanks at its ends.
NO_BLANK_AT_EITHER_END = r"^(?!\s)([\s\S]*\S)$"
NOT_ONLY_BLANKS = r"^(?!\s*$)[\s\S]+"

_INTEGERS = (PropertyType.INTEGER, PropertyType.SHARED_INTEGER)
_SHORTS = (PropertyType.SHORT, PropertyType.SHARED_SHORT)
_STRINGS = (PropertyType.STRING, PropertyType.SHARED_STRING)
_SCHEMAS_WITHOUT_LIMITS: dict[PropertyType, JsonSchema] = {
    PropertyType.BOOLEAN: {"type": "boolean"},
    PropertyType.CURRENCY: {"type": "number"},
    PropertyType.DECIMAL: {"type": "number"},
    PropertyType.PERCENT: {"type": "number"},
    PropertyType.SHARED_DECIMAL: {"type": "number"},
    PropertyType.DATE: {"type": "string", "format": "date"},
    PropertyType.DATETIME: {"type": "string", "format": "date-time"},
    PropertyType.TIME: {"type": "string", "format": "time"},
    PropertyType.DURATION: {"type": "string", "maxLength": DURATION_MAX_LENGTH},
    PropertyType.DESCRIPTOR: {"type": "string", "maxLength": DESCRIPTOR_MAX_LENGTH},
    PropertyType.ENUMERATION: {"type": "string", "maxLength": DESCRIPTOR_MAX_LENGTH},
    PropertyType.SCHOOL_YEAR_ENUMERATION: {
        "type": "integer",
        "minimum": FIRST_SCHOOL_YEAR,
        "maximum": LAST_SCHOOL_YEAR,
    },
    PropertyType.YEAR: {"type": "integer"},
}


def schema_at(schema: JsonSchema, path: JsonPath) -> JsonSchema:
    """The schema of the values at a path, which the schema of the document has."""
    for step in path.steps:
        schema = schema["items"] if step == ALL_ITEMS else schema["properties"][step]
    return schema


def find_schema(schema: JsonSchema, steps: Iterable[str]) -> JsonSchema | None:
    """The schema of the values at the end of these steps; None where a document can have none."""
    found: JsonSchema | None = schema
    for step in steps:
        if found is None:
            return None
        found = found.get("items") if step == ALL_ITEMS else found.get("properties", {}).get(step)
    return found


def document_schema(document: DocumentBody, title: str) -> JsonSchema:
    """The schema of a body as clients send it: without the `id` and the members that the server adds."""
    schema = _object({member.name: _member(member) for member in document.members}, _required(document.members))
    if document.additions:
        schema["properties"][EXTENSIONS] = _document_extensions(document.additions)
    return {"$schema": DRAFT, "title": title, "description": document.entity.documentation, **schema}


def _object(properties: dict[str, JsonSchema], required: Iterable[str]) -> JsonSchema:
    schema: JsonSchema = {"type": "object", "additionalProperties": False, "properties": properties}
    names = sorted(set(required))
    return {**schema, "required": names} if names else schema


def _required(members: Iterable[Member]) -> list[str]:
    return [member.name for member in members if member.placed.is_required]


def _document_extensions(all_additions: tuple[Additions, ...]) -> JsonSchema:
    """The schema of `_ext`: an object for each project that adds something.

    Official schemas list required additions at the root, where they have no effect, and leave `_ext` open. The intent
    is enforced here: a project's part, if present, has to be complete, and unknown members are handled as elsewhere.
    """
    return _object({additions.key: _members_object(additions.members) for additions in all_additions}, ())


def _members_object(members: tuple[Member, ...]) -> JsonSchema:
    return _object({member.name: _member(member) for member in members}, _required(members))


def _member(member: Member) -> JsonSchema:
    prop = member.prop
    schema = _array(member) if prop.is_collection else _value(member)
    return {**_annotations(prop), **schema}


def _annotations(prop: Property) -> JsonSchema:
    described: JsonSchema = {"description": prop.documentation} if prop.documentation else {}
    return described if prop.deprecated is None else {**described, "deprecated": True}


def _array(member: Member) -> JsonSchema:
    """Required arrays have items. Official schemas allow empty ones of commons, unlike the model and older servers."""
    is_common = member.prop.type is PropertyType.COMMON
    items = _common(member) if is_common else _object({member.item_name: _value(member)}, [member.item_name])
    return {"type": "array", "items": items, "minItems": int(member.placed.is_required), "uniqueItems": False}


def _value(member: Member) -> JsonSchema:
    prop = member.prop
    if prop.type is PropertyType.COMMON:
        return _common(member)
    if prop.type.is_reference:
        return _reference(member)
    if prop.type is PropertyType.SCHOOL_YEAR_ENUMERATION:
        return {"title": "EdFi.SchoolYearType", **_object({"schoolYear": scalar_schema(prop)}, ["schoolYear"])}
    return scalar_schema(prop)


def _common(member: Member) -> JsonSchema:
    schema = _members_object(member.members)
    if member.extensions:
        extensions = {extension.key: _members_object(extension.members) for extension in member.extensions}
        schema["properties"][EXTENSIONS] = _object(extensions, ())
    return schema


def _reference(member: Member) -> JsonSchema:
    """The object has the whole identity of its target or is absent: a partial reference cannot be resolved."""
    present = [value for value in member.values if not value.leaf.is_merged_away]
    return _object(_reference_values(present), (value.name for value in present))


def _reference_values(values: Iterable[ReferenceMember]) -> dict[str, JsonSchema]:
    """Values of one name are one member, with the schema of the first."""
    schemas: dict[str, JsonSchema] = {}
    for value in values:
        prop = value.leaf.prop
        schemas.setdefault(value.name, {**_annotations(prop), **scalar_schema(prop)})
    return schemas


def scalar_schema(prop: Property) -> JsonSchema:
    """The schema of a single value, without its description."""
    if prop.type in _INTEGERS:
        return {"type": "integer", "format": _integer_format(prop), **_range(prop)}
    if prop.type in _SHORTS:
        return {"type": "integer", **_range(prop)}
    if prop.type in _STRINGS:
        return {"type": "string", **_given(minLength=prop.min_length, maxLength=prop.max_length), **_pattern(prop)}
    return dict(_SCHEMAS_WITHOUT_LIMITS[prop.type])


def _integer_format(prop: Property) -> str:
    """Shared integers are always 32 bits wide: official schemas ignore the hint `big` on them."""
    return "int64" if prop.is_big and prop.type is PropertyType.INTEGER else "int32"


def _range(prop: Property) -> JsonSchema:
    return _given(minimum=prop.min_value, maximum=prop.max_value)


def _given(**limits: Any) -> JsonSchema:
    return {keyword: limit for keyword, limit in limits.items() if limit is not None}


def _pattern(prop: Property) -> JsonSchema:
    if prop.is_identity:
        return {"pattern": NO_BLANK_AT_EITHER_END}
    if prop.cardinality is Cardinality.REQUIRED:
        return {"pattern": NOT_ONLY_BLANKS}
    return {}
