"""The schema components of a profile's OpenAPI document: those of its resources, narrowed, one set for each usage.

Their names are the ordinary ones with the usage behind: `edFi_student_readable`. A component that several resources
share has one shape for all of them, unless profiles narrow it differently.
"""

from collections.abc import Callable
from typing import Any

from edfi_api.api.metadata.components import ADDED_BY_SERVER, LINK, ComponentNames, Schema, schema_reference, schemas
from edfi_api.model.profiles.definition import Usage
from edfi_api.model.surface.resource import Resource

_SERVER_MEMBERS = {"id", *ADDED_BY_SERVER}


class ProfileComponents:
    """Collects `schemas`, by their names."""

    def __init__(self, names: ComponentNames) -> None:
        self._names = names
        self.schemas: dict[str, Schema] = {}

    def add(self, narrowed: Resource, usage: Usage) -> str:
        """Add everything that the bodies of a resource consist of; the name of the component of a whole body.

        The schema of `narrowed` has the visible members only.
        """
        own = self._names.of_resource(narrowed.name)
        found = schemas([narrowed], self._names)
        if usage is Usage.WRITABLE:
            found = _without_server_members(found, own)
        targets = {name: _named(name, usage) for name in found}
        # Another name of one component changes those that refer to it, so this is repeated until all fit.
        while differing := self._differing(_renamed(found, targets)):
            targets |= {name: _named(f"{own}_{name}", usage) for name, target in targets.items() if target in differing}
        self.schemas |= _renamed(found, targets)
        return targets[own]

    def _differing(self, renamed: dict[str, Schema]) -> set[str]:
        """The names under which other schemas are known."""
        return {name for name, schema in renamed.items() if self.schemas.get(name, schema) != schema}


def _named(component: str, usage: Usage) -> str:
    return component if component.endswith(f"_{usage}") else f"{component}_{usage}"


def _without_server_members(found: dict[str, Schema], own: str) -> dict[str, Schema]:
    """Of the schemas of a body that is written: what only the server adds to it is left out."""
    link = schema_reference(LINK)
    written = {name: _with(schema, lambda _, each: each != link) for name, schema in found.items() if name != LINK}
    return written | {own: _with(written[own], lambda name, _: name not in _SERVER_MEMBERS)}


def _with(schema: Schema, is_kept: Callable[[str, Schema], bool]) -> Schema:
    return {**schema, "properties": {name: each for name, each in schema["properties"].items() if is_kept(name, each)}}


def _renamed(found: dict[str, Schema], targets: dict[str, str]) -> dict[str, Schema]:
    references = {schema_reference(name)["$ref"]: schema_reference(target) for name, target in targets.items()}
    return {targets[name]: _redirected(schema, references) for name, schema in found.items()}


def _redirected(value: Any, references: dict[str, Schema]) -> Any:
    """The same value with other targets of its `$ref`s."""
    if isinstance(value, list):
        return [_redirected(each, references) for each in value]
    if not isinstance(value, dict):
        return value
    redirected = {name: _redirected(each, references) for name, each in value.items()}
    return redirected | references.get(value.get("$ref", ""), {})
