"""The OpenAPI document of change queries; deletes and key changes are described with their resources."""

from typing import Any

from edfi_api import addresses
from edfi_api.api.metadata.components import Schema, schema_reference
from edfi_api.api.metadata.openapi import SECURITY_SCHEME, VERSION, OpenApi, client_credentials, information, servers
from edfi_api.api.metadata.responses import PROBLEM, PROBLEM_SCHEMA, by_status, shared_responses
from edfi_api.model.surface.resource import Surface

_VERSIONS = "availableChangeVersions"
_VERSIONS_SCHEMA: Schema = {
    "type": "object",
    "required": ["newestChangeVersion", "oldestChangeVersion"],
    "properties": {
        "oldestChangeVersion": {"type": "integer", "format": "int64", "description": "Where the versions begin: 0."},
        "newestChangeVersion": {
            "type": "integer",
            "format": "int64",
            "description": "All changes up to this version can be read; none will be added.",
        },
    },
}


def change_queries_openapi(surface: Surface, root: str) -> OpenApi:
    """The document of a server with the URL `root`."""
    return {
        "openapi": VERSION,
        "info": information(
            surface,
            "change queries",
            "Which change versions there are. The changes themselves are read from the resources: with "
            "minChangeVersion and maxChangeVersion, and from their deletes and keyChanges.",
        ),
        "servers": servers(f"/{addresses.CHANGE_QUERIES}"),
        "security": [{SECURITY_SCHEME: []}],
        "tags": [{"name": _VERSIONS, "description": "The change versions that there are."}],
        "paths": {f"/{_VERSIONS}": {"get": _operation()}},
        "components": {
            "schemas": {_VERSIONS: _VERSIONS_SCHEMA, PROBLEM: PROBLEM_SCHEMA},
            "responses": shared_responses(),
            "securitySchemes": {SECURITY_SCHEME: client_credentials(root)},
        },
    }


def _operation() -> dict[str, Any]:
    return {
        "tags": [_VERSIONS],
        "summary": "Returns the oldest and the newest change version.",
        "operationId": "getAvailableChangeVersions",
        "responses": {
            "200": {
                "description": "The change versions.",
                "content": {"application/json": {"schema": schema_reference(_VERSIONS)}},
            },
            **by_status(),
        },
    }
