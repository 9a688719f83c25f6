"""The OpenAPI skeletons in the file of a data standard, which Ed-Fi's own server requires.

The server adds its URL, and the paths and schemas of the resources. Parameters and responses are those of Ed-Fi's API,
under the names that fragments refer to.
"""

from __future__ import annotations

from typing import Any

from edfi_api.model.surface.naming import SCHOOL_YEAR_RESOURCE
from edfi_api.model.surface.resource import ProjectFacts, ResourceKind, Surface

JsonObject = dict[str, Any]

VERSION = "3.0.0"
LARGEST_PAGE = 500
DEFAULT_PAGE = 25
MOST_PARTITIONS = 200


def base_documents(surface: Surface, core: ProjectFacts) -> JsonObject:
    """One for the resources, one for the descriptors."""
    has_school_years = any(resource.kind is ResourceKind.SCHOOL_YEAR for resource in surface.resources)
    return {
        "resources": _document(core, "resources", _school_year_reference() if has_school_years else {}),
        "descriptors": _document(core, "descriptors", {}),
    }


def _document(core: ProjectFacts, subject: str, schemas: JsonObject) -> JsonObject:
    return {
        "openapi": VERSION,
        "info": {
            "title": f"{core.name} API: {subject}",
            "version": core.version,
            "description": f"The {subject} of {core.name} {core.version} and its extensions.",
        },
        "servers": [{"url": ""}],
        "paths": {},
        "components": {"schemas": schemas, "responses": _responses(), "parameters": _parameters()},
        "tags": [],
    }


def _school_year_reference() -> JsonObject:
    year = {"type": "integer", "format": "int32", "description": "The year in which the school year ends."}
    reference = {"type": "object", "properties": {"schoolYear": year}, "required": ["schoolYear"]}
    return {f"EdFi_{SCHOOL_YEAR_RESOURCE}Reference": reference}


def _parameters() -> JsonObject:
    count: JsonObject = {"type": "integer", "format": "int32", "minimum": 0}
    version: JsonObject = {"type": "integer", "format": "int64", "minimum": 0}
    page_size = {**count, "maximum": LARGEST_PAGE, "default": DEFAULT_PAGE}
    text = {"type": "string"}
    return {
        "offset": _query("offset", "How many items to leave out from the beginning.", {**count, "default": 0}),
        "limit": _query("limit", "How many items to answer with at most.", page_size),
        "MinChangeVersion": _query("minChangeVersion", "The change version with which to begin.", version),
        "MaxChangeVersion": _query("maxChangeVersion", "The change version with which to end.", version),
        "If-Match": _header("If-Match", "The ETag that the item must still have."),
        "If-None-Match": _header("If-None-Match", "The ETag of the version that the client has already."),
        "fields": _query("fields", "The members to answer with, separated by commas.", text),
        "queryExpression": _query("q", "A condition that the items must meet.", text),
        "totalCount": _query(
            "totalCount", "Whether to say how many items there are in all.", {"type": "boolean", "default": False}
        ),
        "pageToken": _query("pageToken", "The token of the page to answer with.", text),
        "pageSize": _query("pageSize", "How many items a page has at most, together with pageToken.", page_size),
        "numberOfPartitions": _query(
            "number", "In how many partitions to divide the items.", {**count, "minimum": 1, "maximum": MOST_PARTITIONS}
        ),
    }


def _responses() -> JsonObject:
    descriptions = {
        "Created": "The item was created.",
        "Updated": "The item was updated.",
        "Deleted": "The item was deleted.",
        "NotModified": "The client has the present version already.",
        "BadRequest": "The request is wrong; the body says what to correct.",
        "Unauthorized": "The bearer token is missing, unknown or expired.",
        "Forbidden": "The client may not do this, or not with this item.",
        "NotFound": "There is no such item.",
        "Conflict": "The item refers to one that does not exist, is referred to, or would exist twice.",
        "PreconditionFailed": "The item has changed since the client read it.",
        "Error": "The server failed.",
    }
    return {name: {"description": description} for name, description in descriptions.items()}


def _query(name: str, description: str, schema: JsonObject) -> JsonObject:
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _header(name: str, description: str) -> JsonObject:
    return {"name": name, "in": "header", "description": description, "schema": {"type": "string"}}
