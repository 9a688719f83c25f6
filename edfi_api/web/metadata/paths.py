"""Resource → its OpenAPI path items and operations. See
meadowlark/docs/reference/contract.md#discovery-and-metadata."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from edfi_api.common.conf import api_settings
from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.queries import pagination
from edfi_api.core.queries.operators import MOST_VALUES, Operator
from edfi_api.model.surface.json_schema import schema_at
from edfi_api.model.surface.naming import plural, url_segment
from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.resource import QueryField, Resource
from edfi_api.web.metadata import responses
from edfi_api.web.metadata.components import (
    IDENTITY,
    ComponentNames,
    Schema,
    TrackedNames,
    property_deprecation,
    resource_deprecation,
    scalar_schema,
    schema_reference,
)
from edfi_api.web.metadata.responses import Content

Parameter = dict[str, Any]
# Names of components; in query strings they begin in lower case.
_WINDOW = ("MinChangeVersion", "MaxChangeVersion")
OF_DOCUMENTS = ("orderBy", "fields", "comparisons")
PAGING = ("offset", "limit", "pageToken", "pageSize", "totalCount", *OF_DOCUMENTS, *_WINDOW)
PARTITIONING = ("number", "comparisons", *_WINDOW)
_CHANGE_VERSION: Schema = {"type": "integer", "format": "int64", "minimum": 0}
OFFSETS = ("offset", "limit", "totalCount")
CHANGES = (*OFFSETS, *_WINDOW)
Operation = dict[str, Any]
PathItem = dict[str, Any]
_OPERATORS: dict[Operator, str] = {
    Operator.GREATER: "greater than the value",
    Operator.GREATER_OR_EQUAL: "greater or equal",
    Operator.LESS: "less than the value",
    Operator.LESS_OR_EQUAL: "less or equal, all four not of descriptors and booleans",
    Operator.IN: f"one of up to {MOST_VALUES} values, separated by commas",
    Operator.PREFIX: "of texts and descriptors, begins so, without regard to case",
    Operator.NOT_EQUAL: "another value, or none",
    Operator.EXISTS: "whether there is a value, true or false",
}
# In the example of a PUT, for the one of the URL.
_ANY_ID = "00000000-0000-0000-0000-000000000000"
_FINDING = (
    "A parameter that is named after a member finds items with this value; all of them have to hold. Only items that "
    "the client may read are found."
)
_LISTING_CHANGES = "In the order of their change versions, within a window of these if one is requested."
_CONDITIONS = ("IfMatch", "IfNoneMatch", "Prefer")
_READING = (400, 403, 404)
_WRITING = (400, 403, 409, 412, 413, 415)


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
            _natural(1, pagination.LARGEST_NUMBER) | {"default": pagination.DEFAULT_NUMBER},
        ),
        "orderBy": _query(
            "orderBy",
            "The order of the items: query fields separated by commas, those with a minus in front descending. Missing "
            "values are less than others.",
            {"type": "string"},
        ),
        "fields": _query(
            "fields",
            "The members to answer with, separated by commas, in addition to those of the identity. Other members are "
            "absent, those that the schema requires among them: read such an answer as a partial document.",
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
            "schema": {"type": "string"},
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


def query_parameters(resource: Resource, shared: tuple[str, ...]) -> Iterator[Parameter]:
    """A parameter for each query field, with the type and the description of the property that it is compared with;
    those of identification codes if they are offered.

    A field with the name of a parameter in `shared` is omitted, since it cannot be queried.
    """
    codes = resource.code_fields if OdsCompatibility.IDENTIFICATION_CODES.applies else ()
    for field in (each for each in (*resource.query_fields, *codes) if each.name not in shared):
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
    """All operators as one parameter: one for each field and operator would be most of the document."""
    meanings = "; ".join(f"`{operator}`: {meaning}" for operator, meaning in _OPERATORS.items())
    description = (
        "Comparisons of query fields beyond equality, each `field[operator]=value`, all of which have to hold. "
        "Each may be sent as a parameter of its own instead: `?field[operator]=value`. "
        f"Operators are {meanings}."
    )
    return _query("comparisons", description, {"type": "array", "items": {"type": "string"}})


def _natural(minimum: int, maximum: int | None = None) -> Schema:
    bound = {} if maximum is None else {"maximum": maximum}
    return {"type": "integer", "format": "int32", "minimum": minimum} | bound


def _query(name: str, description: str, schema: Schema) -> Parameter:
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _header(name: str, description: str) -> Parameter:
    return {"name": name, "in": "header", "description": description, "schema": {"type": "string"}}


@dataclass(frozen=True, slots=True)
class Contents:
    """The content of bodies that are read and written, with an example of a POST."""

    read: Content
    write: Content
    example: dict[str, Any]


def whole(component: str, example: dict[str, Any]) -> Contents:
    """Bodies of the resource with this component, in full."""
    return Contents(Content(component), Content(component), example)


def path_items(resource: Resource, names: ComponentNames, core_project: str, contents: Contents) -> dict[str, PathItem]:
    """The path items of one resource, relative to the URL of the data."""
    operations = _Operations(resource, names, core_project, contents)
    domains = {"x-Ed-Fi-domains": list(resource.domains)} if resource.domains else {}
    return {
        resource.url_path: {"get": operations.find(), **operations.writes_of_collection(), **domains},
        f"{resource.url_path}/{{id}}": {"get": operations.retrieve(), **operations.writes_of_item(), **domains},
        f"{resource.url_path}/partitions": {"get": operations.partitions(), **domains},
        f"{resource.url_path}/deletes": {"get": operations.deletes(), **domains},
        f"{resource.url_path}/keyChanges": {"get": operations.key_changes(), **domains},
    }


class _Operations:
    """The operations of one resource."""

    def __init__(self, resource: Resource, names: ComponentNames, core_project: str, contents: Contents) -> None:
        self._resource = resource
        self._contents = contents
        self._tracked = TrackedNames(names, resource)
        self._one = resource.name.resource
        self._several = plural(self._one)
        self._project = "" if resource.name.project == core_project else _pascal_case(resource.name.project)

    def find(self) -> Operation:
        return self._operation(
            f"get{self._project}{self._several}",
            f"Finds {self._resource.endpoint} by example.",
            _FINDING,
            parameters=self._find_parameters(PAGING),
            responses={"200": responses.collection(self._contents.read), **responses.by_status(*_READING)},
        )

    def writes_of_collection(self) -> dict[str, Operation]:
        return {} if self._resource.is_read_only else {"post": self.create()}

    def writes_of_item(self) -> dict[str, Operation]:
        return {} if self._resource.is_read_only else {"put": self.update(), "delete": self.destroy()}

    def partitions(self) -> Operation:
        return self._operation(
            f"get{self._project}{self._several}Partitions",
            f"Divides {self._resource.endpoint} found by example into parts that can be read side by side.",
            "Each page token leads to the first page of a part, which is read like a collection.",
            parameters=self._find_parameters(PARTITIONING),
            responses={"200": responses.partitions(), **responses.by_status(*_READING)},
        )

    def deletes(self) -> Operation:
        return self._operation(
            f"deletes{self._project}{self._several}",
            f"Lists deleted {self._resource.endpoint}.",
            _LISTING_CHANGES,
            parameters=[*map(parameter_reference, CHANGES)],
            responses={"200": responses.changes(self._tracked.delete), **responses.by_status(*_READING)},
        )

    def key_changes(self) -> Operation:
        return self._operation(
            f"keyChanges{self._project}{self._several}",
            f"Lists {self._resource.endpoint} whose identity has changed.",
            _LISTING_CHANGES,
            parameters=[*map(parameter_reference, CHANGES)],
            responses={"200": responses.changes(self._tracked.key_change), **responses.by_status(*_READING)},
        )

    def create(self) -> Operation:
        return self._operation(
            f"post{self._project}{self._one}",
            f"Creates one of {self._resource.endpoint}, or replaces the one with the same identity.",
            "The header Location has its address. Members that the body does not have are absent afterwards.",
            parameters=[*map(parameter_reference, _CONDITIONS)],
            requestBody=self._body(self._contents.example),
            responses={
                "200": responses.response_reference("Replaced"),
                "201": responses.response_reference("Created"),
                **responses.by_status(*_WRITING),
            },
        )

    def retrieve(self) -> Operation:
        preconditions, not_modified = ((), ()) if self._resource.is_read_only else (("IfNoneMatch",), (304,))
        return self._operation(
            f"get{self._project}{self._several}ById",
            f"Reads one of {self._resource.endpoint}.",
            "Items that the client may not read are answered with 403, those that do not exist with 404.",
            parameters=[*map(parameter_reference, ("id", *preconditions))],
            responses={"200": responses.item(self._contents.read), **responses.by_status(*not_modified, *_READING)},
        )

    def update(self) -> Operation:
        may_change_identity = {"x-Ed-Fi-isUpdatable": True} if self._resource.allows_identity_updates else {}
        return self._operation(
            f"put{self._project}{self._one}",
            f"Replaces one of {self._resource.endpoint}; the body has its id.",
            "Members that are absent from the body are absent afterwards.",
            parameters=[*map(parameter_reference, ("id", *_CONDITIONS))],
            requestBody=self._body({"id": _ANY_ID, **self._contents.example}),
            responses={"204": responses.response_reference("Updated"), **responses.by_status(404, *_WRITING)},
            **may_change_identity,
        )

    def destroy(self) -> Operation:
        return self._operation(
            f"delete{self._project}{self._one if OdsCompatibility.OPENAPI.applies else self._several}ById",
            f"Deletes one of {self._resource.endpoint} that nothing refers to.",
            "While other items refer to it, the answer is 409.",
            parameters=[parameter_reference("id"), parameter_reference("IfMatch")],
            responses={"204": responses.response_reference("Deleted"), **responses.by_status(409, 412, *_READING)},
        )

    def _find_parameters(self, shared: tuple[str, ...]) -> list[Parameter]:
        """Return the parameters of searches for documents; rows that other views serve have neither operators nor an
        order or members of choice.
        """
        if self._resource.is_read_only:
            shared = tuple(name for name in shared if name not in OF_DOCUMENTS)
        else:
            shared = (*shared, "Prefer")
        return [*map(parameter_reference, shared), *query_parameters(self._resource, shared=shared)]

    def _operation(self, operation_id: str, summary: str, description: str, **members: Any) -> Operation:
        return {
            "tags": [self._resource.endpoint],
            "summary": summary,
            "description": description,
            "operationId": operation_id,
            **members,
            **resource_deprecation(self._resource.deprecated),
        }

    def _body(self, example: dict[str, Any]) -> dict[str, Any]:
        written = self._contents.write
        content = {written.media_type: {"schema": schema_reference(written.component), "example": example}}
        return {"required": True, "x-bodyName": self._one, "content": content}


def _pascal_case(project: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in url_segment(project).split("-"))
