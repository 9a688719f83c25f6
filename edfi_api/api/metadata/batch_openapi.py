"""The OpenAPI document of batches. Documents are objects of any form in it: with the schemas of all resources it would
have megabytes."""

from typing import Any

from edfi_api import addresses
from edfi_api.api.metadata.components import Schema, schema_reference
from edfi_api.api.metadata.openapi import SECURITY_SCHEME, VERSION, OpenApi, client_credentials, information, servers
from edfi_api.api.metadata.responses import PROBLEM, PROBLEM_SCHEMA, by_status, shared_responses
from edfi_api.conf import api_settings
from edfi_api.model.surface.resource import Surface

_OPERATION, _RESULT, _SUMMARY, _FAILURE = "batchOperation", "batchResult", "batchSummary", "batchProblem"
_WRITE, _UPDATE, _DELETE = "batchUpsert", "batchUpdate", "batchDelete"
_TEXT: Schema = {"type": "string"}
_UUID: Schema = {"type": "string", "format": "uuid"}
_NUMBER: Schema = {"type": "integer", "format": "int32"}
_VERSION: Schema = {"type": "integer", "format": "int64"}
_ANY_OBJECT: Schema = {"type": "object", "additionalProperties": True}

_COMMON: dict[str, Schema] = {
    "resource": {
        "type": "string",
        "description": "The path of the resource, or its name, if exactly one project has it.",
        "example": "/ed-fi/students",
    },
    "ifMatch": {"type": "string", "description": "As the header If-Match of a single request."},
    "ifNoneMatch": {"type": "string", "description": "As the header If-None-Match of a single request."},
    "tag": {"type": "string", "maxLength": 100, "description": "Returned in the result."},
}
_DOCUMENT: dict[str, Schema] = {
    "document": _ANY_OBJECT | {"description": "The body of the single request, as the resource describes it."},
    "profile": {"type": "string", "description": "The media type of a profile, as Content-Type of a single request."},
}
_STORED: dict[str, Schema] = {
    "id": _UUID | {"description": "The identifier of the document. Either this or naturalKey."},
    "naturalKey": _ANY_OBJECT
    | {
        "description": "The identity of the document, as in its body or flat, by the last names of its paths.",
        "example": {"studentUniqueId": "604822"},
    },
}


def batch_openapi(surface: Surface, root: str) -> OpenApi:
    """The document of a server with the URL `root`."""
    return {
        "openapi": VERSION,
        "info": information(surface, "batch", "Many writes in one request."),
        "servers": servers(),
        "security": [{SECURITY_SCHEME: []}],
        "tags": [{"name": "batch", "description": "Many writes in one request."}],
        "paths": {f"/{addresses.BATCH}": {"post": _operation()}},
        "components": {
            "schemas": {PROBLEM: PROBLEM_SCHEMA, **_schemas()},
            "responses": shared_responses(),
            "securitySchemes": {SECURITY_SCHEME: client_credentials(root)},
        },
    }


def _operation() -> dict[str, Any]:
    operations = {"type": "array", "items": schema_reference(_OPERATION), "maxItems": api_settings.BATCH_OPERATIONS}
    results = {"type": "array", "items": {"oneOf": [schema_reference(_RESULT), schema_reference(_SUMMARY)]}}
    return {
        "tags": ["batch"],
        "summary": "Carries out many writes.",
        "description": "Each operation is checked and authorized as the single request that does the same.",
        "operationId": "postBatch",
        "parameters": [
            _choice("mode", ["atomic", "independent"], "atomic: all operations or none; independent: each by itself."),
            _choice("order", ["given", "free"], "given: one after the other; free: in an order that can be written."),
            _choice("return", ["all", "refused"], "refused: only results of operations that failed."),
        ],
        "requestBody": {"required": True, "content": _in_both_forms(operations, schema_reference(_OPERATION))},
        "responses": {
            "200": {
                "description": "The results by position, then a summary, without which the answer is incomplete.",
                "content": _in_both_forms(results, schema_reference(_RESULT)),
            },
            "400": {
                "description": "The batch cannot be read, or an operation of an atomic batch failed.",
                "content": {"application/problem+json": {"schema": schema_reference(_FAILURE)}},
            },
            **by_status(403, 404, 413, 415, 429),
        },
    }


def _in_both_forms(array: Schema, line: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": array}, "application/x-ndjson": {"schema": line}}


def _choice(name: str, values: list[str], description: str) -> dict[str, Any]:
    schema = {"type": "string", "enum": values, "default": values[0]}
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _schemas() -> dict[str, Schema]:
    return {
        _OPERATION: {"oneOf": [schema_reference(name) for name in (_WRITE, _UPDATE, _DELETE)]},
        _WRITE: _object(["resource", "document"], op=_op("create", "upsert"), **_COMMON, **_DOCUMENT),
        _UPDATE: _object(["op", "resource", "document"], op=_op("update"), **_COMMON, **_DOCUMENT, **_STORED),
        _DELETE: _object(["op", "resource"], op=_op("delete"), **_COMMON, **_STORED),
        _RESULT: _object(
            ["index", "status"],
            index=_NUMBER | {"description": "The position of the operation, from 0."},
            tag=_TEXT,
            op=_TEXT,
            resource=_TEXT,
            status=_NUMBER | {"description": "The status of the single request."},
            id=_UUID,
            location=_TEXT,
            etag=_TEXT,
            changeVersion=_VERSION,
            problem=schema_reference(PROBLEM),
            causedBy=_NUMBER | {"description": "The position of a failed operation that this one needed."},
            tolerated={
                "type": "array",
                "description": "What was tolerated in the document, as in `Lenient-Handling` of the single request.",
                "items": _object(["path", "reason"], path=_TEXT, reason=_TEXT),
            },
        ),
        _SUMMARY: _object(
            ["summary"],
            summary=_object(
                ["operations", "succeeded", "refused", "notDone", "byStatus"],
                operations=_NUMBER,
                succeeded=_NUMBER,
                refused=_NUMBER,
                notDone=_NUMBER | {"description": "Operations that were not begun; they can be sent again."},
                byStatus={"type": "object", "additionalProperties": _NUMBER},
            ),
        ),
        _FAILURE: {
            "allOf": [
                schema_reference(PROBLEM),
                _object(
                    [],
                    failedCount=_NUMBER,
                    failedOperations={"type": "array", "items": schema_reference(_RESULT)},
                ),
            ]
        },
    }


def _object(required: list[str], **properties: Schema) -> Schema:
    return {"type": "object", **({"required": required} if required else {}), "properties": properties}


def _op(*values: str) -> Schema:
    return {"type": "string", "enum": list(values), "default": values[-1]}
