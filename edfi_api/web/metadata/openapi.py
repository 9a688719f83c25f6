"""Surface → OpenAPI 3.0 documents, one of the resources and one of the descriptors."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from edfi_api.common import addresses
from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.documents.member_names import OtherNames
from edfi_api.core.documents.ods_form import compile_completion
from edfi_api.model.examples import Bodies, Examples
from edfi_api.model.surface.bundled_descriptors import bundled_values
from edfi_api.model.surface.ods_names import in_served_names
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.web.metadata.components import ComponentNames, Schema, schemas, tracked_schemas
from edfi_api.web.metadata.paths import PathItem, path_items, shared_parameters, whole
from edfi_api.web.metadata.publication import ANY_CONTEXT, VARIABLES
from edfi_api.web.metadata.responses import PARTITIONS, PARTITIONS_SCHEMA, PROBLEM, PROBLEM_SCHEMA, shared_responses

OpenApi = dict[str, Any]

VERSION = "3.0.3"
SECURITY_SCHEME = "oauth2_client_credentials"
_SECURITY_SCHEMES = "securitySchemes"
# How to call the API. It mentions HEAD, which has no operations: generators would make a method of each.
_INTRODUCTION = Path(__file__).with_name("introduction.md")


def resources_document(surface: Surface, root: str, standard: Path | None = None) -> OpenApi:
    """The document of all resources except descriptors, for a server with the URL `root`. Examples have the descriptor
    values that are bundled in the folder of the standard."""
    resources = [each for each in surface.resources if not each.is_descriptor]
    return _document(surface, root, "resources", resources, standard)


def descriptors_document(surface: Surface, root: str, standard: Path | None = None) -> OpenApi:
    """The document of the descriptors, for a server with the URL `root`; examples as above."""
    return _document(surface, root, "descriptors", [each for each in surface.resources if each.is_descriptor], standard)


def all_document(surface: Surface, root: str, standard: Path | None = None) -> OpenApi:
    """The document of resources and descriptors together, which the ODS/API has; examples as above."""
    return _document(surface, root, "resources and descriptors", surface.resources, standard)


def _document(
    surface: Surface, root: str, subject: str, resources: Iterable[Resource], standard: Path | None
) -> OpenApi:
    in_order = sorted(resources, key=lambda resource: resource.served_path)
    names = ComponentNames(surface)
    core = surface.core_project
    examples = examples_of(surface, standard)
    paths: dict[str, PathItem] = {}
    for resource in in_order:
        contents = whole(names.of_resource(resource.name), served_example(resource, _example(resource, examples)))
        paths |= path_items(in_served_names(resource), names, core.name, contents)
    info = titled(surface, subject, f"{_described(surface, subject)}\n\n{_INTRODUCTION.read_text()}")
    own = schemas(map(in_served_names, in_order), names) | tracked_schemas(in_order, names)
    return data_document(root, info, in_order, paths, own)


def _example(resource: Resource, examples: Examples) -> dict[str, Any]:
    """A body of the resource; as the ODS/API has it with every collection."""
    example = examples.of(resource)
    if OdsCompatibility.COMPLETE_DOCUMENTS.applies:
        compile_completion(resource.json_schema)(example)
    return example


def served_example(resource: Resource, example: dict[str, Any]) -> dict[str, Any]:
    """A body of the resource under the names that clients know, in place."""
    OtherNames.of(resource.served_names).rename(example)
    return example


def examples_of(surface: Surface, standard: Path | None) -> Examples:
    """Bodies for the documentation, with descriptor values that are bundled in the folder of the standard."""
    return Examples(Bodies(surface, list(bundled_values(standard)) if standard else ()))


def data_document(
    root: str, info: dict[str, str], resources: Iterable[Resource], paths: dict[str, PathItem], own: dict[str, Schema]
) -> OpenApi:
    """A document of operations on these resources; `own` are the schemas of their bodies."""
    document: OpenApi = {
        "openapi": VERSION,
        "info": info | publisher(root),
        "servers": servers(f"/{addresses.DATA}"),
        "security": [{SECURITY_SCHEME: []}],
        "tags": _tags(resources),
        "paths": paths,
        "components": {
            "schemas": {**own, PARTITIONS: PARTITIONS_SCHEMA, PROBLEM: PROBLEM_SCHEMA},
            "parameters": shared_parameters(),
            "responses": shared_responses(),
            _SECURITY_SCHEMES: {SECURITY_SCHEME: client_credentials(root)},
        },
    }
    return with_used_components(document)


def with_used_components(document: OpenApi) -> OpenApi:
    """The document without the components that its operations do not reach; security schemes stay."""
    components = document["components"]
    used: set[str] = set()
    waiting = list(_references(document["paths"]))
    while waiting:
        reference = waiting.pop()
        if reference not in used:
            used.add(reference)
            kind, name = reference.split("/")[2:]
            waiting += _references(components[kind][name])
    kept = {
        kind: {name: each for name, each in listed.items() if f"#/components/{kind}/{name}" in used}
        for kind, listed in components.items()
        if kind != _SECURITY_SCHEMES
    }
    schemes = {_SECURITY_SCHEMES: components[_SECURITY_SCHEMES]} if _SECURITY_SCHEMES in components else {}
    return document | {"components": {kind: listed for kind, listed in kept.items() if listed} | schemes}


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(reference := value.get("$ref"), str):
            yield reference
        value = value.values()
    if not isinstance(value, str | int | float | None):
        for each in value:
            yield from _references(each)


def titled(surface: Surface, subject: str, description: str) -> dict[str, str]:
    """The `info` of a document."""
    return {
        "title": f"Ed-Fi API: {subject}",
        "version": surface.core_project.version,
        "description": description,
    }


def publisher(root: str) -> dict[str, dict[str, str]]:
    """The members of `info` about whom to ask and what is permitted, for a server with the URL `root`."""
    return {
        "contact": {"name": "The operator of this server", "url": root},
        "license": {"name": "Apache License 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
    }


def _described(surface: Surface, subject: str) -> str:
    return f"The {subject} of {' and '.join(project.name for project in surface.projects)}."


def _tags(resources: Iterable[Resource]) -> list[dict[str, str]]:
    """A tag for each endpoint name, which two projects may share."""
    descriptions = {in_served_names(each).endpoint: each.documentation for each in resources}
    return [{"name": name, "description": description} for name, description in descriptions.items()]


def servers(path: str = "") -> list[dict[str, str]]:
    """The only entry of `servers`: this path below every context."""
    return [{"url": f"{ANY_CONTEXT}{path}{VARIABLES}"}]


def client_credentials(root: str) -> dict[str, Any]:
    """The security scheme of a server with the URL `root`."""
    return {
        "type": "oauth2",
        "description": "A bearer token, which a client gets for its key and secret.",
        "flows": {"clientCredentials": {"tokenUrl": f"{root}/{addresses.OAUTH}", "scopes": {}}},
    }
