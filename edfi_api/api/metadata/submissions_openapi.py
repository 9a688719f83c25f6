"""The OpenAPI document of the ledger of refusals for clients."""

from typing import Any

from edfi_api import addresses
from edfi_api.api.metadata.components import Schema, schema_reference
from edfi_api.api.metadata.openapi import SECURITY_SCHEME, VERSION, OpenApi, client_credentials, information, servers
from edfi_api.api.metadata.responses import PROBLEM, PROBLEM_SCHEMA, by_status, shared_responses
from edfi_api.conf import api_settings
from edfi_api.model.surface.resource import Surface

_ENTRY, _CAUSE, _SUMMARY = "refusal", "refusalCause", "submissionSummary"
_TEXT: Schema = {"type": "string"}
_MOMENT: Schema = {"type": "string", "format": "date-time"}
_NUMBER: Schema = {"type": "integer", "format": "int64"}
_YES_OR_NO: Schema = {"type": "boolean"}
_NUMBERS: Schema = {"type": "object", "additionalProperties": _NUMBER}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_COMMON: dict[str, Schema] = {"firstAt": _MOMENT, "lastAt": _MOMENT}

_SCHEMAS: dict[str, Schema] = {
    _ENTRY: {
        "type": "object",
        "required": ["id", "resource", "operation", "status", "type", "cause", "count", "state", "sequence"],
        "properties": _COMMON
        | {
            "id": {"type": "string", "format": "uuid"},
            "resource": _TEXT | {"example": "/ed-fi/studentSchoolAssociations"},
            "naturalKey": _TEXT | {"description": "The identity of the document, with ? for what was missing."},
            "documentId": _TEXT,
            "educationOrganizationId": _NUMBER,
            "operation": {
                "type": "string",
                "enum": ["create", "upsert", "update", "delete", "unknown"],
                "description": "Unknown if an operation of a batch names none of the others.",
            },
            "isBatch": _YES_OR_NO,
            "isSummary": _YES_OR_NO | {"description": "Refusals beyond the limit of entries, counted by cause."},
            "status": {"type": "integer", "format": "int32"},
            "type": _TEXT,
            "title": _TEXT,
            "validationErrors": {"type": "object", "additionalProperties": _TEXTS},
            "errors": _TEXTS,
            "cause": {
                "type": "object",
                "properties": {"id": _TEXT, "text": _TEXT, "causeGone": _YES_OR_NO},
            },
            "correlationId": _TEXT | {"description": "Of the last occurrence."},
            "count": _NUMBER,
            "state": {"type": "string", "enum": ["open", "resolved"]},
            "resolution": {"type": "string", "enum": ["succeeded", "deleted", "aged", "dismissed"]},
            "resolvedAt": _MOMENT,
            "sequence": _NUMBER | {"description": "Moves with every change of the entry."},
        },
    },
    _CAUSE: {
        "type": "object",
        "properties": _COMMON
        | {
            "id": _TEXT,
            "problem": _TEXT,
            "text": _TEXT | {"example": "School NK#schoolId=7 is missing"},
            "target": _TEXT,
            "resources": _NUMBERS,
            "entries": _NUMBER,
            "occurrences": _NUMBER,
            "causeGone": _YES_OR_NO | {"description": "What was missing has been written: sending again will do."},
        },
    },
    _SUMMARY: {
        "type": "object",
        "properties": {
            "resource": _TEXT,
            "open": _NUMBER,
            "byProblem": _NUMBERS,
            "resolvedLast24Hours": _NUMBER,
            "activity": {"type": "object", "additionalProperties": True},
        },
    },
}
_FILTERS: dict[str, tuple[str, Schema]] = {
    "resource": ("Only entries of this resource.", _TEXT | {"example": "ed-fi/students"}),
    "problem": ("Only this problem type, without urn:ed-fi:api:.", _TEXT),
    "status": ("Only answers with this status.", {"type": "integer"}),
    "naturalKey": ("Only the document with this natural key.", _TEXT),
    "documentId": ("Only requests with this id in their address.", {"type": "string", "format": "uuid"}),
    "educationOrganizationId": ("Only documents of this organization and those below it.", _NUMBER),
    "cause": ("Only entries with this cause.", _TEXT),
    "state": (
        "Open entries only, unless others are requested.",
        {"type": "string", "enum": ["open", "resolved", "all"]},
    ),
    "since": ("Only entries that occurred last at this time or later.", _MOMENT),
    "minSequence": ("Only entries that changed at this sequence or later.", _NUMBER),
}


def submissions_openapi(surface: Surface, root: str) -> OpenApi:
    """The document of a server with the URL `root`."""
    one = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string", "format": "uuid"}}]
    return {
        "openapi": VERSION,
        "info": information(surface, "submissions", "Refused writes of the client, and what they lack."),
        "servers": servers(f"/{addresses.SUBMISSIONS}"),
        "security": [{SECURITY_SCHEME: []}],
        "tags": [{"name": "submissions", "description": "Refused writes of the client."}],
        "paths": {
            "/refusals": {"get": _get("getRefusals", "Lists refusals.", _array(_ENTRY), _parameters(_FILTERS))},
            "/refusals/{id}": {
                "get": _get("getRefusal", "Reads a refusal.", schema_reference(_ENTRY), one, is_item=True),
                "delete": _delete(one),
            },
            "/causes": {"get": _get("getCauses", "Lists causes of open refusals.", _array(_CAUSE), _parameters({}))},
            "/summary": {"get": _get("getSubmissionSummary", "Counts refusals and writes.", _array(_SUMMARY), [])},
        },
        "components": {
            "schemas": {PROBLEM: PROBLEM_SCHEMA, **_SCHEMAS},
            "responses": shared_responses(),
            "securitySchemes": {SECURITY_SCHEME: client_credentials(root)},
        },
    }


def _array(name: str) -> Schema:
    return {"type": "array", "items": schema_reference(name)}


def _get(
    operation: str, summary: str, schema: Schema, parameters: list[dict[str, Any]], *, is_item: bool = False
) -> dict[str, Any]:
    return {
        "tags": ["submissions"],
        "summary": summary,
        "operationId": operation,
        "parameters": parameters,
        "responses": {
            "200": {"description": "What was requested.", "content": {"application/json": {"schema": schema}}},
            **(by_status(400, 404) if is_item else by_status(400)),
        },
    }


def _delete(parameters: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "tags": ["submissions"],
        "summary": "Dismisses a refusal.",
        "description": "It appears again if it occurs again.",
        "operationId": "dismissRefusal",
        "parameters": parameters,
        "responses": {
            "204": {"description": "It is dismissed."},
            **by_status(404),
        },
    }


def _parameters(filters: dict[str, tuple[str, Schema]]) -> list[dict[str, Any]]:
    largest, usual = api_settings.MAX_PAGE_SIZE, api_settings.DEFAULT_PAGE_SIZE
    described = filters | {
        "offset": ("How many to skip.", {"type": "integer", "minimum": 0}),
        "limit": (
            "How many to answer with at most.",
            {"type": "integer", "minimum": 0, "maximum": largest, "default": usual},
        ),
        "totalCount": ("Whether to count them all, in the header Total-Count.", {"type": "boolean"}),
    }
    return [
        {"name": name, "in": "query", "description": description, "schema": schema}
        for name, (description, schema) in described.items()
    ]
