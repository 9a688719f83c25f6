"""The parameters of operations: shared ones, by name, and the query parameters of a single resource."""

from collections.abc import Iterator
from typing import Any

from edfi_api.api.metadata.components import IDENTITY, Schema, property_deprecation, scalar_schema, schema_at
from edfi_api.conf import api_settings
from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.resource import QueryField, Resource
from edfi_api.queries import partitions
from edfi_api.queries.operators import Operator

Parameter = dict[str, Any]

# Names of components; in query strings they begin in lower case.
_WINDOW = ("MinChangeVersion", "MaxChangeVersion")
OF_DOCUMENTS = ("orderBy", "fields", "comparisons")
PAGING = ("offset", "limit", "pageToken", "pageSize", "totalCount", *OF_DOCUMENTS, *_WINDOW)
PARTITIONING = ("number", "comparisons", *_WINDOW)
_CHANGE_VERSION: Schema = {"type": "integer", "format": "int64", "minimum": 0}
OFFSETS = ("offset", "limit", "totalCount")
CHANGES = (*OFFSETS, *_WINDOW)


def parameter_reference(name: str) -> Parameter:
    """A `$ref` to a shared parameter."""
    return {"$ref": f"#/components/parameters/{name}"}


def shared_parameters() -> dict[str, Parameter]:
    """The parameters that operations of all resources share; page sizes are those of the settings.

    Swagger UI sends every default, so one is given only where it conflicts with at most one other parameter.
    """
    return {
        **_paging_parameters(),
        "number": _query(
            "number",
            "In how many partitions to divide the items, if there are enough of them.",
            _natural(1, partitions.LARGEST_NUMBER) | {"default": partitions.DEFAULT_NUMBER},
        ),
        "orderBy": _query(
            "orderBy",
            "The order of the items: query fields separated by commas, those with a minus in front descending. Missing "
            "values are less than others.",
            {"type": "string"},
        ),
        "fields": _query(
            "fields",
            "The members to answer with, separated by commas, beside those of the identity.",
            {"type": "string"},
        ),
        "comparisons": _comparisons(),
        "MinChangeVersion": _query("minChangeVersion", "The change version with which to begin.", _CHANGE_VERSION),
        "MaxChangeVersion": _query("maxChangeVersion", "The change version with which to end.", _CHANGE_VERSION),
        "id": {
            "name": "id",
            "in": "path",
            "required": True,
            "description": "The identifier that the server gave the item.",
            "schema": {"type": "string", "format": "uuid"},
        },
        "IfMatch": _header("If-Match", "The ETag that the item must have still, so that no other change is lost."),
        "IfNoneMatch": _header("If-None-Match", "The ETag of the version that the client has already."),
        "Prefer": _header(
            "Prefer",
            "handling=strict: refuse unknown members, ambiguous dates, and filters by descriptors that do not exist.",
        ),
    }


def _paging_parameters() -> dict[str, Parameter]:
    largest, default = api_settings.MAX_PAGE_SIZE, api_settings.DEFAULT_PAGE_SIZE
    return {
        "offset": _query("offset", "How many items to leave out from the beginning.", _natural(0)),
        "limit": _query("limit", "How many items to answer with at most.", _natural(0, largest) | {"default": default}),
        "pageToken": _query(
            "pageToken",
            "Where to go on: the Next-Page-Token of the page before, or a token of a partition.",
            {"type": "string"},
        ),
        "pageSize": _query(
            "pageSize", "How many items to answer with at most, together with pageToken.", _natural(0, largest)
        ),
        "totalCount": _query(
            "totalCount", "Whether the header Total-Count has the number of all items.", {"type": "boolean"}
        ),
    }


def query_parameters(resource: Resource, beside: tuple[str, ...]) -> Iterator[Parameter]:
    """A parameter for each query field, with the type and the description of the property that it is compared with.

    A field with the name of a parameter in `beside` is omitted, since it cannot be queried.
    """
    for field in (each for each in resource.query_fields if each.name not in beside):
        schema = _property(resource, field)
        yield {
            **_query(field.name, schema.get("description", ""), scalar_schema(schema)),
            **(IDENTITY if set(field.paths) & set(resource.identity) else {}),
            **property_deprecation(schema),
        }


def _property(resource: Resource, field: QueryField) -> Schema:
    if field == ID_FIELD:
        return {"type": "string", "description": "The identifier that the server gave the item."}
    return schema_at(resource.json_schema, field.paths[0])


def _comparisons() -> Parameter:
    """All parameters with an operator as one, since each query field has several."""
    operators = ", ".join(Operator)
    description = (
        "Comparisons of query fields beyond equality, each a parameter `field[operator]=value`. Operators are "
        f"{operators}; `in` takes values separated by commas, `exists` true or false."
    )
    schema: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
    return {**_query("comparisons", description, schema), "style": "form", "explode": True}


def _natural(minimum: int, maximum: int | None = None) -> Schema:
    bound = {} if maximum is None else {"maximum": maximum}
    return {"type": "integer", "format": "int32", "minimum": minimum} | bound


def _query(name: str, description: str, schema: Schema) -> Parameter:
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _header(name: str, description: str) -> Parameter:
    return {"name": name, "in": "header", "description": description, "schema": {"type": "string"}}
