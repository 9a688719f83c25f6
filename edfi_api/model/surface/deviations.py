"""Applies the few deviations of a standard's published surface from the derivation rules to finished resources.

They are data of the standard (`publishedDeviations` in its `package.json`), each with its reason.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from edfi_api.model.metaed.errors import ModelErrors, Problem, error
from edfi_api.model.metaed.model import Project, PublishedDeviation
from edfi_api.model.surface.json_schema import JsonSchema
from edfi_api.model.surface.references import is_required
from edfi_api.model.surface.resource import (
    ALL_ITEMS,
    ArrayUniqueness,
    JsonPath,
    KeyPair,
    Resource,
    ResourceName,
    ValuePaths,
)

Rewrite = Callable[[JsonPath], JsonPath]


class _FitsNothing(Exception):
    """A deviation refers to something that the rules do not produce; the message has the details."""


def as_published(resources: Iterable[Resource], projects: Iterable[Project]) -> list[Resource]:
    """The resources with the deviations of all projects applied; ModelErrors for deviations that do not apply."""
    by_name = {resource.name: resource for resource in resources}
    problems: list[Problem] = []
    for project in projects:
        for deviation in project.published_deviations:
            name = ResourceName(project.name, deviation.resource)
            try:
                by_name[name] = _deviate(_required_resource(by_name, name), deviation)
            except _FitsNothing as refusal:
                problems.append(error(deviation.place, f"published deviation: {refusal}"))
    if problems:
        raise ModelErrors(problems)
    return list(by_name.values())


def _required_resource(by_name: Mapping[ResourceName, Resource], name: ResourceName) -> Resource:
    if name not in by_name:
        raise _FitsNothing(f"there is no resource {name.resource} in {name.project}")
    return by_name[name]


def _deviate(resource: Resource, deviation: PublishedDeviation) -> Resource:
    schema = copy.deepcopy(resource.json_schema)
    path, parent = _place_in(schema, deviation)
    if deviation.is_required is not None:
        _set_required(parent, path.steps[-1], deviation.is_required)
    if deviation.published_name is not None:
        resource = _renamed(resource, path, deviation.published_name)
        _rename_member(parent, path.steps[-1], deviation.published_name)
    return _with_schema(resource, schema)


def _place_in(schema: JsonSchema, deviation: PublishedDeviation) -> tuple[JsonPath, JsonSchema]:
    """The path, and the schema of the object that has its last step as a member."""
    try:
        path = JsonPath.parse(deviation.path)
        parent = _object_at(schema, path.steps[:-1])
        parent["properties"][path.steps[-1]]
    except (ValueError, LookupError):
        raise _FitsNothing(f"{deviation.resource} has no {deviation.path}") from None
    return path, parent


def _object_at(schema: JsonSchema, steps: tuple[str, ...]) -> JsonSchema:
    for step in steps:
        schema = schema["items"] if step == ALL_ITEMS else schema["properties"][step]
    return schema


def _set_required(parent: JsonSchema, name: str, should_be: bool) -> None:
    others = set(parent.pop("required", ())) - {name}
    required = sorted(others | {name} if should_be else others)
    if required:
        parent["required"] = required


def _rename_member(parent: JsonSchema, old: str, new: str) -> None:
    parent["properties"] = {new if name == old else name: member for name, member in parent["properties"].items()}
    if "required" in parent:
        parent["required"] = sorted(new if name == old else name for name in parent["required"])


def _with_schema(resource: Resource, schema: JsonSchema) -> Resource:
    """The resource with another schema and everything derived from it."""
    return replace(
        resource,
        json_schema=schema,
        references=tuple(replace(r, is_required=is_required(r.path, schema)) for r in resource.references),
        descriptors=tuple(replace(d, is_required=is_required(d.path, schema)) for d in resource.descriptors),
    )


def _renamed(resource: Resource, path: JsonPath, new_name: str) -> Resource:
    """All paths of the resource with the new name. Identities cannot be renamed: referrers would have to change."""
    if path in resource.identity:
        raise _FitsNothing(f"{path} of {resource.name.resource} is part of the identity")
    length = len(path.steps)

    def rewrite(other: JsonPath) -> JsonPath:
        is_affected = other.steps[:length] == path.steps
        return JsonPath((*path.steps[:-1], new_name, *other.steps[length:])) if is_affected else other

    changes = {f.name: rewritten(getattr(resource, f.name), rewrite) for f in fields(resource)}
    renamed = replace(resource, **changes)
    others = tuple(other for other in renamed.ods_names if other.path.steps[-1] != other.name)
    return replace(renamed, value_paths=_in_order(renamed.value_paths), ods_names=others)


def _in_order(values: ValuePaths) -> ValuePaths:
    return ValuePaths(**{f.name: tuple(sorted(getattr(values, f.name), key=str)) for f in fields(values)})


def rewritten(value: Any, rewrite: Rewrite) -> Any:
    """A copy of frozen values with every path into this resource's bodies rewritten."""
    match value:
        case JsonPath():
            return rewrite(value)
        case KeyPair():
            return replace(value, here=rewrite(value.here))
        case ArrayUniqueness():
            return _rewritten_array(value, rewrite)
        case tuple() if not isinstance(value, ResourceName):
            return tuple(rewritten(item, rewrite) for item in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{f.name: rewritten(getattr(value, f.name), rewrite) for f in fields(value)})
        case _:
            return value


def _rewritten_array(uniqueness: ArrayUniqueness, rewrite: Rewrite) -> ArrayUniqueness:
    """Item paths are relative to their array, so they are rewritten as full paths."""
    items = (*uniqueness.array.steps, ALL_ITEMS)
    whole = (rewrite(JsonPath((*items, *path.steps))) for path in uniqueness.item_paths)
    item_paths = (JsonPath(path.steps[len(items) :]) for path in whole)
    return ArrayUniqueness(rewrite(uniqueness.array), tuple(sorted(item_paths, key=str)))
