"""The OpenAPI documents of fixed routes: `openapi.json` in the folder of their views, with placeholders.

- `"${version}"`, and settings such as `"${MAX_PAGE_SIZE}"`, stand for a value;
- `${root}` is the URL of the server, `${context}` and `${variables}` are begin and end of a URL below every context;
- an operation with `x-setting` is described only while that setting is on.

Documents of routes that need a token get what they share: answers, the schema of problems, and the security scheme.
"""

import re
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
from lxml import etree
from lxml.builder import ElementMaker

from edfi_api.common.conf import api_settings
from edfi_api.common.contributions import contributors
from edfi_api.model.surface.load_order import Dependencies
from edfi_api.model.surface.resource import Surface
from edfi_api.web.metadata.openapi import (
    SECURITY_SCHEME,
    OpenApi,
    client_credentials,
    publisher,
    with_used_components,
)
from edfi_api.web.metadata.publication import ANY_CONTEXT, VARIABLES, Document
from edfi_api.web.metadata.responses import PROBLEM, PROBLEM_SCHEMA, shared_responses

_OWN_PACKAGES = {
    "batch": "edfi_api.web.batch",
    "discovery": "edfi_api.web.metadata",
    "relations": "edfi_api.web.relations",
}
_VALUE = re.compile(r'"\$\{(\w+)\}"')
_PART_OF_URL = re.compile(r"\$\{(root|context|variables)\}")
_SETTING = "x-setting"

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_XML = ElementMaker(namespace=_NAMESPACE, nsmap={None: _NAMESPACE})


def _document(path: Path, surface: Surface, root: str) -> OpenApi:
    """The document of a server with the URL `root`."""
    values = {"version": surface.core_project.version}
    parts = {"root": root, "context": ANY_CONTEXT, "variables": VARIABLES}
    text = _VALUE.sub(lambda found: _json(found[1], values | parts), path.read_text())
    document: OpenApi = orjson.loads(_PART_OF_URL.sub(lambda found: parts[found[1]], text))
    document["paths"] = {address: _described(item) for address, item in document["paths"].items()}
    document["info"] |= publisher(root)
    return _with_shared_components(document, root) if document["security"] else document


def _json(name: str, values: Mapping[str, str]) -> str:
    value = values[name] if name in values else getattr(api_settings, name)
    return orjson.dumps(value).decode()


def _described(path_item: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        method: {name: value for name, value in operation.items() if name != _SETTING}
        for method, operation in path_item.items()
        if _SETTING not in operation or getattr(api_settings, operation[_SETTING])
    }


def _with_shared_components(document: OpenApi, root: str) -> OpenApi:
    components = {
        "schemas": document["components"]["schemas"] | {PROBLEM: PROBLEM_SCHEMA},
        "responses": shared_responses(),
        "securitySchemes": {SECURITY_SCHEME: client_credentials(root)},
    }
    return with_used_components(document | {"components": components})


def _documents() -> dict[str, Document]:
    """Return the documents by their names; needs the apps."""
    packages = dict(_OWN_PACKAGES)
    for config in contributors():
        packages |= config.openapi_documents
    return {
        name: partial(_document, Path(import_module(package).__path__[0], "openapi.json"))
        for name, package in sorted(packages.items())
    }


DOCUMENTS = _documents()


def graphml(surface: Surface) -> bytes:
    """Edges lead from a resource to those that depend on it."""
    dependencies = Dependencies(surface)
    path, targets, updated_later = dependencies.path, dependencies.targets, dependencies.updated_later
    updates = {name: f"{path(name)}#Retry" for name in updated_later}
    paths = [path(name) for name in targets]
    edges = [(path(target), path(name)) for name, found in targets.items() for target in found]
    edges += [(path(target), updates[name]) for name in updates for target in updated_later[name]]
    graph = _XML.graph({"id": "EdFi Dependencies", "edgedefault": "directed"})
    graph.extend(_XML.node(id=path) for path in sorted([*paths, *updates.values()]))
    graph.extend(_XML.edge(source=source, target=target) for source, target in sorted(edges))
    text: bytes = etree.tostring(_XML.graphml(graph), xml_declaration=True, encoding="utf-8")
    return text
