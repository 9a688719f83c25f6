"""The OpenAPI document of the history of documents: one path for all resources, as of related documents."""

from typing import Any

from edfi_api import addresses
from edfi_api.api.metadata.components import Schema, schema_reference
from edfi_api.api.metadata.openapi import SECURITY_SCHEME, VERSION, OpenApi, client_credentials, information, servers
from edfi_api.api.metadata.relations_openapi import path_parameters
from edfi_api.api.metadata.responses import PROBLEM, PROBLEM_SCHEMA, by_status, shared_responses
from edfi_api.model.surface.resource import Surface

_VERSION, _CHANGE = "documentVersion", "documentChange"
_NUMBER: Schema = {"type": "integer", "format": "int64"}
_TEXT: Schema = {"type": "string"}
_SCHEMAS: dict[str, Schema] = {
    _VERSION: {
        "type": "object",
        "required": ["changeVersion", "operation", "at", "naturalKey"],
        "additionalProperties": False,
        "properties": {
            "changeVersion": _NUMBER,
            "operation": {"type": "string", "enum": ["insert", "update", "key_change", "delete"]},
            "at": {"type": "string", "format": "date-time"},
            "naturalKey": _TEXT | {"description": "The identity that the document had, for people to read."},
            "client": _TEXT | {"description": "The API client that wrote it, if it belongs to the same vendor."},
            "body": {
                "type": "object",
                "description": "The document; absent for a delete, and if several API profiles apply.",
                "additionalProperties": True,
            },
            "changes": {
                "type": "array",
                "description": "Differences to the next older version in the list.",
                "items": schema_reference(_CHANGE),
            },
        },
    },
    _CHANGE: {
        "type": "object",
        "required": ["path"],
        "additionalProperties": False,
        "properties": {
            "path": _TEXT | {"example": "$.lastSurname"},
            "from": {"nullable": True, "description": "The older value; absent for what was added."},
            "to": {"nullable": True, "description": "The newer value; absent for what was removed."},
        },
    },
}


def history_openapi(surface: Surface, root: str) -> OpenApi:
    """The document of a server with the URL `root`."""
    return {
        "openapi": VERSION,
        "info": information(surface, "history", "The versions of a document, and what each changed."),
        "servers": servers(f"/{addresses.HISTORY}"),
        "security": [{SECURITY_SCHEME: []}],
        "tags": [{"name": "history", "description": "The versions of a document."}],
        "paths": {"/{project}/{endpoint}/{id}": {"get": _operation()}},
        "components": {
            "schemas": _SCHEMAS | {PROBLEM: PROBLEM_SCHEMA},
            "responses": shared_responses(),
            "securitySchemes": {SECURITY_SCHEME: client_credentials(root)},
        },
    }


def _operation() -> dict[str, Any]:
    return {
        "tags": ["history"],
        "summary": "Lists the versions of a document.",
        "description": "The newest first, also of a deleted document. Versions that may not be read are left out.",
        "operationId": "getHistory",
        "parameters": [*path_parameters(), *_query_parameters()],
        "responses": {
            "200": {
                "description": "A page of versions.",
                "headers": {
                    "Next-Change-Version": {
                        "description": "The beforeChangeVersion of the next page; absent on the last one.",
                        "schema": _NUMBER,
                    }
                },
                "content": {"application/json": {"schema": {"type": "array", "items": schema_reference(_VERSION)}}},
            },
            **by_status(400, 403, 404),
        },
    }


def _query_parameters() -> list[dict[str, Any]]:
    size = {"type": "integer", "format": "int32", "minimum": 1, "maximum": 100}
    described: dict[str, tuple[str, Schema]] = {
        "limit": ("How many versions to answer with at most.", size),
        "beforeChangeVersion": ("Only versions before this change version.", _NUMBER | {"minimum": 0}),
    }
    return [
        {"name": name, "in": "query", "description": description, "schema": schema}
        for name, (description, schema) in described.items()
    ]
