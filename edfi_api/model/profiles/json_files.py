"""Profiles in JSON: text ↔ definitions. Unknown members are errors, as in XML.

The canonical text of a definition, which is stored, has the members of this form in a fixed order and nothing that is
empty.
"""

from typing import Any

import msgspec
import orjson

from edfi_api.model.profiles.definition import (
    MOST_BYTES,
    ElementKind,
    FilterDefinition,
    FilterMode,
    Finding,
    FindingSeverity,
    MemberSelection,
    NamedMember,
    ProfileDefinition,
    ProfileRule,
    ResourceParts,
    RuleElement,
    UnreadableDefinition,
)

_LISTS = {ElementKind.OBJECT: "objects", ElementKind.COLLECTION: "collections", ElementKind.EXTENSION: "extensions"}


class _Filter(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    property_name: str
    filter_mode: FilterMode
    values: tuple[str, ...] = msgspec.field()


class _Rule(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    member_selection: MemberSelection
    properties: tuple[str, ...] = ()
    objects: "tuple[_Object, ...]" = ()
    collections: "tuple[_Collection, ...]" = ()
    extensions: "tuple[_Object, ...]" = ()


class _Object(_Rule, forbid_unknown_fields=True, rename="camel", kw_only=True):
    name: str
    logical_schema: str | None = None


class _Collection(_Object, forbid_unknown_fields=True, rename="camel", kw_only=True):
    filter: _Filter | None = None


class _Resource(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    name: str
    logical_schema: str | None = None
    read: _Rule | None = None
    write: _Rule | None = None


class _Profile(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    name: str
    resources: tuple[_Resource, ...] = msgspec.field()


class _File(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    profiles: tuple[_Profile, ...]


def read_json(text: bytes) -> list[ProfileDefinition]:
    """The definitions of a file. Raises UnreadableDefinition with the first problem and its place."""
    if len(text) > MOST_BYTES:
        raise _unreadable(f"The file has more than {MOST_BYTES // 2**20} MB.")
    try:
        file = msgspec.json.decode(text, type=_File)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _unreadable(f"The file is not a definition of profiles: {error}") from error
    profiles = [_profile(each) for each in file.profiles]
    if problems := [text for profile in file.profiles for text in _structure(profile)]:
        raise UnreadableDefinition([Finding(0, FindingSeverity.ERROR, problem) for problem in problems])
    return profiles


def write_json(profiles: list[ProfileDefinition]) -> bytes:
    """A file that `read_json` reads as these definitions."""
    written = {"profiles": [_written_profile(profile) for profile in profiles]}
    return orjson.dumps(written, option=orjson.OPT_INDENT_2) + b"\n"


def canonical_json(profile: ProfileDefinition) -> bytes:
    """The definition as it is stored."""
    return orjson.dumps(_written_profile(profile))


def read_canonical_json(text: bytes) -> ProfileDefinition:
    """The definition of a stored text. Raises UnreadableDefinition."""
    try:
        return _profile(msgspec.json.decode(text, type=_Profile))
    except (msgspec.DecodeError, RecursionError) as error:
        raise _unreadable(f"The stored text is not a definition of a profile: {error}") from error


def canonical_rule(rule: ProfileRule) -> bytes:
    """The text of a part, equal for equal parts; entity tags are computed from it."""
    return orjson.dumps(_written_rule(rule))


def _structure(profile: _Profile) -> list[str]:
    """The problems that the types of the members do not express."""
    if not profile.name:
        return ["A profile must have a 'name'."]
    if not profile.resources:
        return ["Profile definition must contain at least one Resource element."]
    rules = [rule for resource in profile.resources for rule in (resource.read, resource.write) if rule]
    return [problem for rule in rules for problem in _rule_structure(rule, is_below_extension=False)]


def _rule_structure(rule: _Rule, *, is_below_extension: bool) -> list[str]:
    problems = []
    if is_below_extension and rule.extensions:
        problems.append("'extensions' cannot contain 'extensions'.")
    for collection in rule.collections:
        if collection.filter and not collection.filter.values:
            problems.append(f"The filter of '{collection.name}' must have at least one value.")
    for each in (*rule.objects, *rule.collections):
        problems += _rule_structure(each, is_below_extension=is_below_extension)
    for extension in rule.extensions:
        problems += _rule_structure(extension, is_below_extension=True)
    return problems


def _profile(file: _Profile) -> ProfileDefinition:
    resources = tuple(
        ResourceParts(
            each.name,
            each.logical_schema,
            None if each.read is None else _rule(each.read),
            None if each.write is None else _rule(each.write),
        )
        for each in file.resources
    )
    return ProfileDefinition(file.name, resources)


def _rule(file: _Rule) -> ProfileRule:
    elements = tuple(
        RuleElement(kind, each.name, _rule(each), _filter(each))
        for kind, listed in zip(_LISTS, (file.objects, file.collections, file.extensions), strict=True)
        for each in listed
    )
    return ProfileRule(file.member_selection, tuple(NamedMember(name) for name in file.properties), elements)


def _filter(file: _Object) -> FilterDefinition | None:
    if not isinstance(file, _Collection) or file.filter is None:
        return None
    return FilterDefinition(file.filter.property_name, file.filter.filter_mode, file.filter.values)


def _written_profile(profile: ProfileDefinition) -> dict[str, Any]:
    return {"name": profile.name, "resources": [_written_resource(resource) for resource in profile.resources]}


def _written_resource(resource: ResourceParts) -> dict[str, Any]:
    return {
        "name": resource.name,
        **({} if resource.logical_schema is None else {"logicalSchema": resource.logical_schema}),
        **({} if resource.read is None else {"read": _written_rule(resource.read)}),
        **({} if resource.write is None else {"write": _written_rule(resource.write)}),
    }


def _written_rule(rule: ProfileRule) -> dict[str, Any]:
    lists: dict[str, list[Any]] = {"properties": [named.name for named in rule.properties]}
    for kind, name in _LISTS.items():
        lists[name] = [_written_element(each) for each in rule.elements_of(kind)]
    return {"memberSelection": rule.selection.value, **{name: listed for name, listed in lists.items() if listed}}


def _written_element(element: RuleElement) -> dict[str, Any]:
    written = {"name": element.name, **_written_rule(element.rule)}
    if element.filter is not None:
        written["filter"] = {
            "propertyName": element.filter.property_name,
            "filterMode": element.filter.mode.value,
            "values": list(element.filter.values),
        }
    return written


def _unreadable(text: str) -> UnreadableDefinition:
    return UnreadableDefinition([Finding(0, FindingSeverity.ERROR, text)])
