"""The OpenAPI document of related documents: one path for all resources, in a document of its own.

In the document of the resources it would need a path for each of them, and client generators would make as many
equivalent methods.
"""

from typing import Any

from edfi_api import addresses
from edfi_api.api.metadata.components import Schema, schema_reference
from edfi_api.api.metadata.openapi import SECURITY_SCHEME, VERSION, OpenApi, client_credentials, information, servers
from edfi_api.api.metadata.responses import PROBLEM, PROBLEM_SCHEMA, by_status, shared_responses
from edfi_api.conf import api_settings
from edfi_api.model.surface.resource import Surface

_RELATED = "relatedDocument"
_RELATED_SCHEMA: Schema = {
    "type": "object",
    "required": ["id", "naturalKey", "resource"],
    "properties": {
        "resource": {
            "type": "string",
            "description": "Project and endpoint of the document.",
            "example": "ed-fi/studentSchoolAssociations",
        },
        "id": {"type": "string", "format": "uuid", "description": "The identifier that the server gave the document."},
        "naturalKey": {"type": "string", "description": "The identity of the document, for people to read."},
        "body": {
            "type": "object",
            "description": "The document as its resource serves it, if bodies were requested.",
            "additionalProperties": True,
        },
    },
}


def relations_openapi(surface: Surface, root: str) -> OpenApi:
    """The document of a server with the URL `root`."""
    return {
        "openapi": VERSION,
        "info": information(
            surface, "relations", "The documents that refer to a document, and those that it refers to."
        ),
        "servers": servers(f"/{addresses.RELATIONS}"),
        "security": [{SECURITY_SCHEME: []}],
        "tags": [{"name": "relations", "description": "The documents around a document."}],
        "paths": {"/{project}/{endpoint}/{id}": {"get": _operation()}},
        "components": {
            "schemas": {_RELATED: _RELATED_SCHEMA, PROBLEM: PROBLEM_SCHEMA},
            "responses": shared_responses(),
            "securitySchemes": {SECURITY_SCHEME: client_credentials(root)},
        },
    }


def _operation() -> dict[str, Any]:
    return {
        "tags": ["relations"],
        "summary": "Lists the documents around a document.",
        "description": "Only documents are listed that the client may read.",
        "operationId": "getRelatedDocuments",
        "parameters": [*path_parameters(), *_query_parameters()],
        "responses": {
            "200": {
                "description": "A page of related documents, in the order in which they were created.",
                "headers": {
                    "Next-Page-Token": {
                        "description": "The pageToken of the next page; absent on the last one.",
                        "schema": {"type": "string"},
                    }
                },
                "content": {
                    "application/json": {"schema": {"type": "array", "items": schema_reference(_RELATED)}},
                },
            },
            **by_status(400, 403, 404),
        },
    }


def path_parameters() -> list[dict[str, Any]]:
    """Those of the path of any document."""
    described = {
        "project": ("The project of the resource, as in its path.", {"type": "string", "example": "ed-fi"}),
        "endpoint": ("The endpoint of the resource.", {"type": "string", "example": "students"}),
        "id": ("The identifier of the document.", {"type": "string", "format": "uuid"}),
    }
    return [
        {"name": name, "in": "path", "required": True, "description": description, "schema": schema}
        for name, (description, schema) in described.items()
    ]


def _query_parameters() -> list[dict[str, Any]]:
    """Defaults are those of `relations.parameters`."""
    largest = api_settings.MAX_PAGE_SIZE
    described: dict[str, tuple[str, Schema]] = {
        "direction": (
            "incoming: documents that refer to this one; outgoing: documents that it refers to.",
            {"type": "string", "enum": ["incoming", "outgoing"], "default": "incoming"},
        ),
        "resource": (
            "Only documents of these resources.",
            {"type": "array", "items": {"type": "string"}, "example": ["ed-fi/studentSchoolAssociations"]},
        ),
        "order": (
            "Which of the documents, by creation, come first.",
            {"type": "string", "enum": ["oldest", "newest"], "default": "oldest"},
        ),
        "include": ("body: the documents themselves too.", {"type": "string", "enum": ["body"]}),
        "pageToken": (
            "The Next-Page-Token of the previous page. All other parameters stay as they were.",
            {"type": "string"},
        ),
        "pageSize": (
            "How many documents to answer with at most.",
            {"type": "integer", "format": "int32", "minimum": 0, "maximum": largest, "default": largest},
        ),
    }
    return [
        {"name": name, "in": "query", "description": description, "schema": schema}
        for name, (description, schema) in described.items()
    ]
