"""The responses of operations: shared ones, by name, and the schema of problem details."""

from dataclasses import dataclass
from typing import Any

from edfi_api.web.metadata.components import Schema, schema_reference

Response = dict[str, Any]

PROBLEM = "problemDetails"
PARTITIONS = "partitions"
# Status → shared response; 200 of a GET is described by the operation itself.
_NAMES = {
    201: "Created",
    204: "Updated",
    304: "NotModified",
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    412: "PreconditionFailed",
    413: "ContentTooLarge",
    415: "UnsupportedMediaType",
    429: "TooManyRequests",
    500: "Error",
    503: "ServiceUnavailable",
}
# Every operation has these statuses.
_ALWAYS = (401, 500, 503)

PROBLEM_SCHEMA: Schema = {
    "type": "object",
    "description": "Why a request was refused: problem details of RFC 9457.",
    "properties": {
        "detail": {"type": "string", "description": "What is wrong, in a sentence."},
        "type": {"type": "string", "description": "The kind of problem, a URN below urn:ed-fi:api."},
        "title": {"type": "string", "description": "The name of the kind of problem."},
        "status": {"type": "integer", "format": "int32", "description": "The HTTP status."},
        "correlationId": {"type": "string", "description": "By what the request is found in the server's log."},
        "validationErrors": {
            "type": "object",
            "description": "By the path of the property, what is wrong with it.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
        "errors": {"type": "array", "description": "What is wrong besides.", "items": {"type": "string"}},
        "hints": {"type": "array", "description": "What was sent, and what to do.", "items": {"type": "string"}},
    },
}

PARTITIONS_SCHEMA: Schema = {
    "type": "object",
    "required": ["pageTokens"],
    "properties": {
        "pageTokens": {
            "type": "array",
            "description": "The pageToken of the first page of each partition.",
            "items": {"type": "string"},
        }
    },
}

_ETAG = {"ETag": {"description": "The version of the item.", "schema": {"type": "string"}}}
_HANDLING = {
    "Lenient-Handling": {
        "description": "What was tolerated, and strict handling refuses: a list (RFC 9651) of the paths of unknown "
        "members, values in other forms, ambiguous dates and filters by descriptors that do not exist, each with its "
        "reason; `more` at the end if there are more.",
        "schema": {"type": "string"},
        "example": '"$.favouriteColor";reason=unknown-member, "$.birthDate";reason=ambiguous-date',
    },
    "Preference-Applied": {
        "description": "The handling that the client preferred.",
        "schema": {"type": "string"},
    },
}
_WRITTEN = {
    "Location": {"description": "Where the item is.", "schema": {"type": "string", "format": "uri"}},
    **_ETAG,
    **_HANDLING,
    "Rule-Warnings": {
        "description": "What custom rules warn of: a list (RFC 9651) of paths, each with the rule and its text; "
        "`more` at the end if there are more.",
        "schema": {"type": "string"},
        "example": '"$.entryDate";rule="district/E-1";text="The entry date is a Sunday."',
    },
}
_LINK = {
    "Link": {
        "description": "If items refer to the one that was to be deleted: where they can be read.",
        "schema": {"type": "string"},
    }
}
_PAGE = {
    "Total-Count": {
        "description": "How many items there are in all, if totalCount was requested.",
        "schema": {"type": "integer", "format": "int32"},
    },
    "Next-Page-Token": {
        "description": "The pageToken of the next page; absent after the last one.",
        "schema": {"type": "string"},
    },
    **_HANDLING,
}


@dataclass(frozen=True, slots=True)
class Content:
    """Documents of a resource in bodies: the schema component that describes them, and their media type."""

    component: str
    media_type: str = "application/json"


def response_reference(name: str) -> Response:
    """A `$ref` to a shared response."""
    return {"$ref": f"#/components/responses/{name}"}


def by_status(*statuses: int) -> dict[str, Response]:
    """References to the shared responses with these statuses, and to those of every operation."""
    return {str(status): response_reference(_NAMES[status]) for status in sorted({*statuses, *_ALWAYS})}


def shared_responses() -> dict[str, Response]:
    """The responses that operations of all resources share."""
    return {
        "Created": _without_body("The item was created.", _WRITTEN),
        "Replaced": _without_body("The item existed and was replaced.", _WRITTEN),
        "Updated": _without_body("The item was updated.", _WRITTEN),
        "Deleted": _without_body("The item was deleted."),
        "NotModified": _without_body("The client has the present version already.", _ETAG),
        "BadRequest": _problem("The request is wrong; the body says what to correct."),
        "Unauthorized": _problem("The bearer token is missing, unknown or expired."),
        "Forbidden": _problem("The client may not do this, or not with this item."),
        "NotFound": _problem("There is no such item."),
        "Conflict": {
            **_problem("The item refers to one that does not exist, is referred to, or would exist twice."),
            "headers": _LINK,
        },
        "PreconditionFailed": _problem("The item has changed since the client read it."),
        "ContentTooLarge": _problem("The body has more bytes than the server reads."),
        "UnsupportedMediaType": _problem("By its Content-Type, the body is not JSON."),
        "TooManyRequests": {
            **_problem("The client sends more than the server accepts."),
            "headers": {"Retry-After": {"description": "In how many seconds.", "schema": {"type": "integer"}}},
        },
        "Error": _problem("The server failed; the correlation id helps its operator to find out why."),
        "ServiceUnavailable": _problem("The server cannot answer at present; the request can be repeated."),
    }


def item(content: Content) -> Response:
    """One document."""
    schema = schema_reference(content.component)
    return {"description": "The item.", "headers": _ETAG, "content": {content.media_type: {"schema": schema}}}


def collection(content: Content) -> Response:
    """A page of documents."""
    schema = {"type": "array", "items": schema_reference(content.component)}
    return {"description": "The items found.", "headers": _PAGE, "content": {content.media_type: {"schema": schema}}}


def changes(component: str) -> Response:
    """A page of deletes or key changes."""
    schema = {"type": "array", "items": schema_reference(component)}
    headers = {"Total-Count": _PAGE["Total-Count"]}
    return {"description": "The changes found.", "headers": headers, "content": _json(schema)}


def partitions() -> Response:
    """The page tokens of partitions that can be read concurrently."""
    return {"description": "The partitions.", "headers": _HANDLING, "content": _json(schema_reference(PARTITIONS))}


def _json(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _without_body(description: str, headers: dict[str, Any] | None = None) -> Response:
    return {"description": description, **({"headers": headers} if headers else {})}


def _problem(description: str) -> Response:
    return {
        "description": description,
        "content": {"application/problem+json": {"schema": schema_reference(PROBLEM)}},
    }
