"""The OpenAPI document of validation: rules, runs and results."""

from typing import Any

from edfi_api import addresses
from edfi_api.api.metadata.components import Schema, schema_reference
from edfi_api.api.metadata.openapi import SECURITY_SCHEME, VERSION, OpenApi, client_credentials, information, servers
from edfi_api.api.metadata.responses import PROBLEM, PROBLEM_SCHEMA, by_status, shared_responses
from edfi_api.conf import api_settings
from edfi_api.model.surface.resource import Surface

_RULE, _RUN, _RESULT, _DELETE, _VERSIONS = (
    "validationRule", "validationRun", "validationResult", "deletedValidationResult", "validationVersions"
)  # fmt: skip
_TEXT: Schema = {"type": "string"}
_UUID: Schema = {"type": "string", "format": "uuid"}
_MOMENT: Schema = {"type": "string", "format": "date-time"}
_LONG: Schema = {"type": "integer", "format": "int64"}
_TAIL: dict[str, Schema] = {"_etag": _TEXT, "_lastModifiedDate": _MOMENT}


def validation_openapi(surface: Surface, root: str) -> OpenApi:
    """The document of a server with the URL `root`."""
    return {
        "openapi": VERSION,
        "info": information(surface, "validation", "Rules over stored documents, and the violations that they found."),
        "servers": servers(f"/{addresses.VALIDATION}"),
        "security": [{SECURITY_SCHEME: []}],
        "tags": [{"name": "validation", "description": "Rules, runs and results."}],
        "paths": _paths(),
        "components": {
            "schemas": {PROBLEM: PROBLEM_SCHEMA, **_schemas()},
            "responses": shared_responses(),
            "securitySchemes": {SECURITY_SCHEME: client_credentials(root)},
        },
    }


def _paths() -> dict[str, Any]:
    collections = (("validationRules", _RULE, _RULE_FILTERS), ("validationRuns", _RUN, _RUN_FILTERS))
    paths: dict[str, Any] = {}
    for path, schema, filters in (*collections, ("validationResults", _RESULT, _RESULT_FILTERS)):
        paths[f"/{path}"] = {"get": _collection(path, schema, filters)}
        paths[f"/{path}/{{id}}"] = {"get": _item(path, schema)}
    if api_settings.VALIDATION_REQUESTS:
        paths["/validationRuns"]["post"] = _requested_run()
    paths["/validationResults/deletes"] = {"get": _page("deletedValidationResults", _DELETE, _WINDOW)}
    paths["/availableChangeVersions"] = {"get": _operation("AvailableValidationVersions", schema_reference(_VERSIONS))}
    return paths


def _collection(name: str, schema: str, filters: dict[str, Schema]) -> dict[str, Any]:
    """A page by offset or by token."""
    tokens = {"pageToken": _TEXT, "pageSize": {**_LONG, "minimum": 0, "maximum": api_settings.MAX_PAGE_SIZE}}
    operation = _page(name, schema, tokens | filters)
    operation["responses"]["200"]["headers"] = {
        "Next-Page-Token": {
            "description": "The pageToken of the next page; absent after the last one.",
            "schema": _TEXT,
        }
    }
    return operation


def _page(name: str, schema: str, filters: dict[str, Schema]) -> dict[str, Any]:
    items = {"type": "array", "items": schema_reference(schema)}
    largest, usual = api_settings.MAX_PAGE_SIZE, api_settings.DEFAULT_PAGE_SIZE
    paging: dict[str, Schema] = {
        "offset": {**_LONG, "minimum": 0, "default": 0},
        "limit": {**_LONG, "minimum": 0, "maximum": largest, "default": usual},
        "totalCount": {"type": "boolean", "default": False},
    }
    parameters = [{"name": name, "in": "query", "schema": each} for name, each in {**paging, **filters}.items()]
    return _operation(name[0].upper() + name[1:], items) | {"parameters": parameters}


def _item(name: str, schema: str) -> dict[str, Any]:
    operation = _operation(f"{name[0].upper()}{name[1:]}ById", schema_reference(schema))
    return operation | {"parameters": [{"name": "id", "in": "path", "required": True, "schema": _UUID}]}


def _requested_run() -> dict[str, Any]:
    texts: Schema = {"type": "array", "items": _TEXT}
    body = _object([], rules=texts, categories=texts)
    location = {"description": "The run, also before it has begun.", "schema": _TEXT}
    return {
        "tags": ["validation"],
        "summary": "Request a run over the client's organizations: of all rules, or of these rules and categories.",
        "operationId": "postValidationRuns",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "202": {"description": "The run was requested.", "headers": {"Location": location}},
            **by_status(400, 403, 404),
            "429": {"description": "The client has requested a run within the last hour."},
        },
    }


def _operation(name: str, schema: Schema) -> dict[str, Any]:
    return {
        "tags": ["validation"],
        "summary": "Only what the client may see.",
        "operationId": f"get{name}",
        "responses": {
            "200": {"description": "What was requested.", "content": {"application/json": {"schema": schema}}},
            **by_status(400, 403, 404),
        },
    }


def _object(required: list[str], **properties: Schema) -> Schema:
    return {"type": "object", **({"required": required} if required else {}), "properties": properties}


_RULE_REFERENCE = _object(["ruleIdentifier", "ruleSource"], ruleIdentifier=_TEXT, ruleSource=_TEXT)
_RULE_FILTERS: dict[str, Schema] = {
    "id": _UUID,
    **dict.fromkeys(
        (
            "ruleIdentifier", "ruleSource", "helpUrl", "shortDescription", "description", "ruleStatusDescriptor",
            "category", "severityDescriptor", "externalRuleId", "validationLogicTypeDescriptor", "validationLogic",
            "version", "resourceType",
        ),
        _TEXT,
    ),
}  # fmt: skip
_RUN_FILTERS: dict[str, Schema] = {
    "id": _UUID,
    **dict.fromkeys(("runIdentifier", "host", "ruleEngine", "runStatusDescriptor"), _TEXT),
    **dict.fromkeys(("runStartDateTime", "runFinishDateTime"), _MOMENT),
    "changeVersion": _LONG,
}
_WINDOW: dict[str, Schema] = {"minChangeVersion": _LONG, "maxChangeVersion": _LONG}
_RESULT_FILTERS: dict[str, Schema] = {
    "state": {"type": "string", "enum": ["open", "resolved", "all"], "default": "open"},
    "id": _UUID,
    **dict.fromkeys(
        (
            "resultIdentifier", "resourceType", "ruleIdentifier", "ruleSource", "category", "severityDescriptor",
            "runIdentifier", "host", "ruleEngine", "studentUniqueId", "staffUniqueId", "namespace", "naturalKey",
            "message",
        ),
        _TEXT,
    ),
    **dict.fromkeys(("appearedDateTime", "resolvedDateTime"), _MOMENT),
    "educationOrganizationId": _LONG,
    "resourceId": _UUID,
    **_WINDOW,
}  # fmt: skip


def _schemas() -> dict[str, Schema]:
    counted = _object([], validationRuleReference=_RULE_REFERENCE, outcome=_TEXT, appeared=_LONG, resolved=_LONG)
    run = ["runIdentifier", "host", "ruleEngine"]
    return {
        _RULE: _object(
            ["id", "ruleIdentifier", "ruleSource"],
            **_RULE_FILTERS,
            **_TAIL,
        ),
        _RUN: _object(
            ["id", *run, "runStartDateTime", "runStatusDescriptor"],
            **_RUN_FILTERS,
            rules={"type": "array", "items": counted},
            **_TAIL,
        ),
        _RESULT: _result_schema(run),
        _DELETE: _object(
            ["id", "changeVersion", "keyValues"],
            id=_UUID,
            changeVersion=_LONG,
            keyValues=_object([], resultIdentifier=_TEXT, resourceType=_TEXT),
        ),
        _VERSIONS: _object([], oldestChangeVersion=_LONG, newestChangeVersion=_LONG),
    }


def _result_schema(run: list[str]) -> Schema:
    context = _object([], identificationCode=_TEXT, customizationValue=_TEXT)
    return _object(
        ["id", "resultIdentifier", "resourceType", "validationRuleReference", "educationOrganizationReference"],
        id=_UUID,
        resultIdentifier=_TEXT,
        resourceType=_TEXT,
        validationRuleReference=_RULE_REFERENCE,
        validationRunReference=_object(run, **dict.fromkeys(run, _TEXT)),
        educationOrganizationReference=_object(["educationOrganizationId"], educationOrganizationId=_LONG),
        resourceId=_UUID,
        resourceLink=_TEXT,
        naturalKey=_TEXT,
        studentReference=_object(["studentUniqueId"], studentUniqueId=_TEXT),
        staffReference=_object(["staffUniqueId"], staffUniqueId=_TEXT),
        namespace=_TEXT,
        severityDescriptor=_TEXT,
        category=_TEXT,
        message=_TEXT,
        additionalContexts={"type": "array", "items": context},
        appearedDateTime=_MOMENT,
        resolvedDateTime=_MOMENT,
        changeVersion=_LONG,
        **_TAIL,
    )
