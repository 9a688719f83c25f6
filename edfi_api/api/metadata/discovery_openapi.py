"""The OpenAPI document of the routes that need no token: discovery, metadata and health."""

from typing import Any

from edfi_api import addresses
from edfi_api.api.metadata.components import Schema, schema_reference
from edfi_api.api.metadata.openapi import VERSION, OpenApi, information
from edfi_api.model.surface.resource import Surface

_TEXT: Schema = {"type": "string"}
_ADDRESS: Schema = {"type": "string", "format": "uri"}
_NAMES: Schema = {"type": "array", "items": _TEXT}


def discovery_openapi(surface: Surface, root: str) -> OpenApi:
    """The document of a server with the URL `root`."""
    return {
        "openapi": VERSION,
        "info": information(surface, "discovery", "What the server says about itself; no token is needed."),
        "servers": [{"url": root}],
        "security": [],
        "tags": [{"name": "discovery", "description": "What the server says about itself."}],
        "paths": {
            "/": _get("getDiscovery", "The versions served and the addresses of everything.", "discovery"),
            f"/{addresses.METADATA}": _get("getMetadata", "What metadata there is.", "metadata"),
            f"/{addresses.SPECIFICATIONS}": _get_list("getSpecifications", "The OpenAPI documents.", "specification"),
            f"/{addresses.DEPENDENCIES}": _get_list(
                "getDependencies", "The order in which resources are loaded.", "dependency"
            ),
            f"/{addresses.XSD}": _get_list("getXsd", "The projects, with their XML schemas.", "xsdProject"),
            f"/{addresses.HEALTH}": _get("getHealth", "Whether the server can do its work.", "health"),
        },
        "components": {"schemas": _schemas()},
    }


def _schemas() -> dict[str, Schema]:
    return {
        "dataModel": _object(name=_TEXT, version=_TEXT, informationalVersion=_TEXT),
        "dependency": _object(resource=_TEXT, order={"type": "integer", "format": "int32"}, operations=_NAMES),
        "discovery": _object(
            version=_TEXT,
            informationalVersion=_TEXT,
            suite=_TEXT,
            build=_TEXT,
            applicationName=_TEXT,
            dataModels={"type": "array", "items": schema_reference("dataModel")},
            urls={"type": "object", "additionalProperties": _ADDRESS},
        ),
        "health": _object(Status=_TEXT, Results={"type": "array", "items": schema_reference("healthResult")}),
        "healthResult": _object(Name=_TEXT, Status=_TEXT, Description=_TEXT),
        "metadata": _object(dependencies=_ADDRESS, specifications=_ADDRESS, xsdMetadata=_ADDRESS),
        "specification": _object(name=_TEXT, endpointUri=_ADDRESS, prefix=_TEXT),
        "xsdProject": _object(description=_TEXT, name=_TEXT, version=_TEXT, files=_ADDRESS),
    }


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "required": sorted(properties), "properties": properties}


def _get(operation_id: str, summary: str, component: str) -> dict[str, Any]:
    return _path_item(operation_id, summary, schema_reference(component))


def _get_list(operation_id: str, summary: str, component: str) -> dict[str, Any]:
    return _path_item(operation_id, summary, {"type": "array", "items": schema_reference(component)})


def _path_item(operation_id: str, summary: str, schema: Schema) -> dict[str, Any]:
    answer = {"description": summary, "content": {"application/json": {"schema": schema}}}
    operation = {
        "tags": ["discovery"],
        "summary": summary,
        "operationId": operation_id,
        "responses": {"200": answer},
    }
    return {"get": operation}
