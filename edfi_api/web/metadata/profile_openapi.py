"""Surface and stored profile → the OpenAPI document of what the profile shows, and of what can be written through it.

It is the ordinary document of the profile's resources, with the members that the profile hides left out everywhere.
The names of its schema components are the ordinary ones followed by the usage: `edFi_student_readable`. A component
that several resources share has one shape for all of them, unless profiles narrow it differently.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import orjson
from cachetools import LRUCache

from edfi_api.core.documents.visible_part import readable_schema, writable_schema
from edfi_api.core.queries.parameters import with_visible_fields
from edfi_api.core.security.profiles.catalog import ProfileCatalogs, ProfilePart, StoredProfile
from edfi_api.model.profiles.definition import Usage
from edfi_api.model.surface.ods_names import in_served_names
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.web.metadata.components import (
    ADDED_BY_SERVER,
    LINK,
    ComponentNames,
    Schema,
    schema_reference,
    schemas,
    tracked_schemas,
)
from edfi_api.web.metadata.discovery import specifications
from edfi_api.web.metadata.openapi import OpenApi, data_document, examples_of, served_example, titled
from edfi_api.web.metadata.paths import Contents, PathItem, path_items, whole
from edfi_api.web.metadata.publication import ADDRESS, JSON, Publication, publication
from edfi_api.web.metadata.responses import Content

_SERVER_MEMBERS = {"id", *ADDED_BY_SERVER}
_Parts = Mapping[Usage, ProfilePart]
_METHODS = {Usage.READABLE: ("get",), Usage.WRITABLE: ("post", "put", "delete")}

# A profile of a few resources takes some 50 kB, one of all resources of a standard 6 MB.
_MOST_BYTES = 32 * 2**20


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
    """Return the schemas of a body that is written, without what only the server adds to it."""
    link = schema_reference(LINK)
    written = {name: _with(schema, lambda _, each: each != link) for name, schema in found.items() if name != LINK}
    return written | {own: _with(written[own], lambda name, _: name not in ADDED_BY_SERVER)}


def _with(schema: Schema, is_kept: Callable[[str, Schema], bool]) -> Schema:
    return {**schema, "properties": {name: each for name, each in schema["properties"].items() if is_kept(name, each)}}


def _renamed(found: dict[str, Schema], targets: dict[str, str]) -> dict[str, Schema]:
    references = {schema_reference(name)["$ref"]: schema_reference(target) for name, target in targets.items()}
    return {targets[name]: _redirected(schema, references) for name, schema in found.items()}


def _redirected(value: Any, references: dict[str, Schema]) -> Any:
    """Return the same value with other targets of its `$ref`s."""
    if isinstance(value, list):
        return [_redirected(each, references) for each in value]
    if not isinstance(value, dict):
        return value
    redirected = {name: _redirected(each, references) for name, each in value.items()}
    return redirected | references.get(value.get("$ref", ""), {})


def profile_document(surface: Surface, root: str, profile: StoredProfile, standard: Path | None = None) -> OpenApi:
    """The document for a server with the URL `root`; examples have the descriptor values of the standard's folder."""
    names, examples = ComponentNames(surface), examples_of(surface, standard)
    components = ProfileComponents(names)
    paths: dict[str, PathItem] = {}
    covered = [(resource, parts) for resource in _in_order(surface) if (parts := _parts(profile, resource))]
    for resource, parts in covered:
        contents = _contents(components, parts, whole(names.of_resource(resource.name), examples.of(resource)))
        served_example(resource, contents.example)
        items = path_items(_queryable(resource, parts), names, surface.core_project.name, contents)
        paths |= _with_operations(items, parts)
    resources = [resource for resource, _ in covered]
    schemas = components.schemas | tracked_schemas(resources, names)
    return data_document(root, _info(surface, profile), resources, paths, schemas)


def _contents(components: ProfileComponents, parts: _Parts, contents: Contents) -> Contents:
    """The bodies of a resource through these parts; of a usage without one nothing is served."""
    if read := parts.get(Usage.READABLE):
        contents = replace(contents, read=_content(components, read))
    if write := parts.get(Usage.WRITABLE):
        contents = replace(contents, write=_content(components, write), example=write.project(contents.example))
    return contents


def _content(components: ProfileComponents, part: ProfilePart) -> Content:
    return Content(components.add(_narrowed(part), part.usage), part.media_type)


def _in_order(surface: Surface) -> list[Resource]:
    return sorted(surface.resources, key=lambda resource: resource.url_path)


def _parts(profile: StoredProfile, resource: Resource) -> dict[Usage, ProfilePart]:
    return {usage: part for usage in Usage if (part := profile.part(resource, usage)) is not None}


def _info(surface: Surface, profile: StoredProfile) -> dict[str, str]:
    ordinary = titled(surface, "resources", "")
    return ordinary | {
        "title": f"{profile.name} Resources",
        "description": f"Profile-filtered API for {profile.name}. Based on: {ordinary['title']}",
    }


def _narrowed(part: ProfilePart) -> Resource:
    """The resource as if it had the visible members only."""
    if part.view is None:
        return in_served_names(part.resource)
    narrow = readable_schema if part.usage is Usage.READABLE else writable_schema
    return in_served_names(replace(part.resource, json_schema=narrow(part.resource.json_schema, part.view)))


def _queryable(resource: Resource, parts: _Parts) -> Resource:
    """The resource with the query fields that readers of the profile can use."""
    part = parts.get(Usage.READABLE)
    return resource if part is None else with_visible_fields(resource, part.view)


def _with_operations(items: dict[str, PathItem], parts: _Parts) -> dict[str, PathItem]:
    """The path items with the methods of these parts; one without any is left out."""
    hidden = {method for usage, methods in _METHODS.items() if usage not in parts for method in methods}
    shown = {method for usage in parts for method in _METHODS[usage]}
    return {
        path: {name: each for name, each in item.items() if name not in hidden}
        for path, item in items.items()
        if shown & item.keys()
    }


class ProfilePublications:
    """Documents are rendered when they are requested and kept while there is room, until their definition changes."""

    def __init__(self, surface: Surface, standard: Path) -> None:
        self._surface = surface
        self._standard = standard
        self._catalogs = ProfileCatalogs(surface)
        self._kept: LRUCache[StoredProfile, Publication] = LRUCache(_MOST_BYTES, getsizeof=_size)
        self._lock = Lock()

    def names(self, tenant_id: int | None) -> list[str]:
        """The tenant's and the shared profiles that fit the served standard, in the order of their storing."""
        return [each.name for each in self._catalogs.current().visible_to(tenant_id) if not each.is_incompatible]

    def list(self, tenant_id: int | None) -> Publication:
        """The list of all specifications, those of profiles at the end."""
        return publication(orjson.dumps(specifications(self._surface, ADDRESS, self.names(tenant_id))), JSON)

    def of(self, name: str, tenant_id: int | None) -> Publication | None:
        """The document of the tenant's or shared profile with this name, in any case; None if none fits."""
        profile = self._catalogs.current().named(name, tenant_id)
        if profile is None or profile.is_incompatible:
            return None
        with self._lock:
            return self._kept.get(profile) or self._rendered(profile)

    def _rendered(self, profile: StoredProfile) -> Publication:
        document = profile_document(self._surface, ADDRESS, profile, self._standard)
        rendered = publication(orjson.dumps(document), JSON)
        if _size(rendered) <= _MOST_BYTES:
            self._kept[profile] = rendered
        return rendered


def _size(kept: Publication) -> int:
    return sum(map(len, (*kept.pieces, *kept.deflated)))
