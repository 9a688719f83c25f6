"""`GET metadata/specifications`: the OpenAPI document of the management API, made of its routes and shapes. An address
is data, of which routes are made, too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin

import msgspec
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.features.management_api.answer_shapes import DescribedAnswer
from edfi_api.features.management_api.bodies import BodyMember, members_of
from edfi_api.features.management_api.collections import Collection
from edfi_api.features.management_api.scopes import Scope
from edfi_api.features.management_api.views import AnonymousView, base_address
from edfi_api.web.metadata.openapi import VERSION, publisher, with_used_components
from edfi_api.web.metadata.responses import PROBLEM, PROBLEM_SCHEMA

_PARAMETER = re.compile(r"<(\w+)>")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_READING = "The token needs a scope that allows to read."
_WRITING = f"The token needs the scope {Scope.FULL_ACCESS}."
_DONE = {200: "The answer.", 201: "Created; the header Location has its address.", 204: "Done."}
_SECURITY = "oauth2_client_credentials"
# By status: the name of the component, and its description.
_PROBLEMS = {
    "400": ("BadRequest", "The request breaks rules; the body says which."),
    "401": ("Unauthorized", "There is no valid token."),
    "403": ("Forbidden", "The scopes of the token do not allow it."),
    "404": ("NotFound", "There is no such item."),
    "409": ("Conflict", "A reference does not resolve, a name is taken, or a concurrent request interfered."),
    "415": ("UnsupportedMediaType", "By its Content-Type, the body is not JSON."),
    "429": ("TooManyRequests", "There were too many requests; the header Retry-After says when to go on."),
}
_PAGING = ("offset", "limit", "orderBy", "direction")
# By action, of a collection; other actions are told by their address.
_SUMMARIES = {
    "list": "Lists {tag}",
    "retrieve": "Reads one of {tag}",
    "create": "Creates one of {tag}",
    "update": "Replaces one of {tag}",
    "destroy": "Deletes one of {tag}",
    "reset_credential": "Makes a new secret for one of {tag}",
    "applications": "Lists applications of one of {tag}",
    "of_data_store": "Lists applications of one of {tag}",
    "copy": "Copies one of {tag}",
    "import_": "Imports one of {tag}",
    "export": "Exports one of {tag}",
    "add_grant": "Grants actions on a resource claim to one of {tag}",
    "change_grant": "Replaces the actions on a resource claim that one of {tag} has",
    "remove_grant": "Takes a resource claim from one of {tag}",
    "override": "Overrides the strategies of a resource claim in one of {tag}",
    "reset": "Resets the strategies of a resource claim in one of {tag}",
}
_CREATING = ("create", "copy", "import_", "add_grant")
_LOCATION = {"Location": {"description": "Where the item is.", "schema": {"type": "string", "format": "uri"}}}
# Actions that answer with items of another collection, by the address of that.
_ITEMS_OF = {"applications": "applications", "of_data_store": "applications"}
_SCHEMAS = "#/components/schemas/"
_NULLABLE = {"nullable": True}


@dataclass(frozen=True)
class Address:
    """`path` is below the version, as `vendors/<id>`; `actions` are those of the view, by method in lower case. A view
    that is no view set has its methods as actions."""

    version: str
    path: str
    view: type[Any]
    actions: Mapping[str, str]
    is_view_set: bool = True

    @property
    def template(self) -> str:
        """`/v3/vendors/{id}`"""
        path = _PARAMETER.sub(r"{\1}", self.path)
        return f"/{self.version}/{path}"

    @property
    def parameters(self) -> list[str]:
        """Names of parameters in the path."""
        return _PARAMETER.findall(self.path)

    @property
    def tag(self) -> str:
        """The collection that it belongs to."""
        return self.path.partition("/")[0]


class SpecificationView(AnonymousView):
    """The document is the same for all clients."""

    addresses: Sequence[Address] = ()

    def get(self, request: Request) -> Response:
        return Response(document(self.addresses, base_address(request._request)))


def document(addresses: Sequence[Address], base: str) -> dict[str, Any]:
    """The document of these addresses at `base`."""
    collections = {address.view for address in addresses if issubclass(address.view, Collection)}
    answers = [_answer(address, action).body for address in addresses for action in address.actions.values()]
    tags = sorted({address.tag for address in addresses})
    made = {
        "openapi": VERSION,
        "info": {
            "title": "Ed-Fi API Configuration Service API",
            "version": "v3",
            "description": "Vendors, applications, clients, claim sets, profiles and data stores of this server.",
            **publisher(base),
        },
        "servers": [{"url": base}],
        "tags": [{"name": name, "description": f"Operations on {_words(name)}."} for name in tags],
        "security": [{_SECURITY: [Scope.FULL_ACCESS]}],
        "paths": {address.template: dict(_operations(address, addresses)) for address in addresses},
        "components": {
            "schemas": {PROBLEM: PROBLEM_SCHEMA, **dict(_schemas(collections)), **_shape_schemas(answers)},
            "responses": {
                name: {"description": text, "content": {"application/problem+json": {"schema": _reference(PROBLEM)}}}
                for name, text in _PROBLEMS.values()
            },
            "parameters": _PARAMETERS,
            "securitySchemes": {
                _SECURITY: {
                    "type": "oauth2",
                    "flows": {
                        "clientCredentials": {
                            "tokenUrl": f"{base}/connect/token",
                            "scopes": {scope.value: scope.partition("/")[2] for scope in Scope},
                        }
                    },
                }
            },
        },
    }
    return with_used_components(made)


_PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "id": {"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "format": "int32"}},
    "offset": {"name": "offset", "in": "query", "schema": {"type": "integer", "minimum": 0}},
    "limit": {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1}},
    "orderBy": {"name": "orderBy", "in": "query", "schema": {"type": "string"}},
    "direction": {
        "name": "direction",
        "in": "query",
        "schema": {"type": "string", "enum": ["asc", "ascending", "desc", "descending"]},
    },
}


def _operations(address: Address, addresses: Sequence[Address]) -> Iterator[tuple[str, dict[str, Any]]]:
    parameters = [_path_parameter(name) for name in address.parameters]
    for method, action in address.actions.items():
        operation: dict[str, Any] = {
            "operationId": _operation_id(address, method),
            "tags": [address.tag],
            "summary": _summary(address, method, action),
            "description": _READING if method == "get" else _WRITING,
            "parameters": [*parameters, *(_query(address) if action == "list" else ())],
            "responses": _responses(address, action, addresses),
        }
        if body := getattr(address.view, "bodies", {}).get(action):
            content = {"schema": _reference(_name(address.view, action)), "example": dict(body.example)}
            operation["requestBody"] = {"required": True, "content": {"application/json": content}}
        yield method, operation


def _operation_id(address: Address, method: str) -> str:
    """A name that generators make a method of: `putV3ApplicationsByIdResetCredential`."""
    segments = _PARAMETER.sub(r"by-\1", address.path).replace("_", "-").replace("/", "-").split("-")
    return method + "".join(each[:1].upper() + each[1:] for each in (address.version, *segments))


def _summary(address: Address, method: str, action: str) -> str:
    """Of an action without words of its own, the path with what the method does."""
    verb = {"get": "Shows", "post": "Takes"}.get(method, method.capitalize())
    text = _SUMMARIES[action].format(tag=address.tag) if action in _SUMMARIES else f"{verb} {address.template}"
    return f"{text} ({address.version})."


def _path_parameter(name: str) -> dict[str, Any]:
    return {"$ref": "#/components/parameters/id"} if name == "id" else {**_PARAMETERS["id"], "name": name}


def _query(address: Address) -> Iterator[dict[str, Any]]:
    yield from ({"$ref": f"#/components/parameters/{name}"} for name in _PAGING)
    listing = getattr(address.view, "listing", None)
    for field in listing.filters if listing else ():
        yield {"name": field.name, "in": "query", "schema": {"type": "string"}}


def _responses(address: Address, action: str, addresses: Sequence[Address]) -> dict[str, Any]:
    answer = _answer(address, action)
    found: dict[str, Any] = {"description": _DONE[answer.status]}
    if schema := _schema_of_body(address, action, answer, addresses):
        found["content"] = {"application/json": {"schema": schema}}
    if answer.status == 201:
        found["headers"] = _LOCATION
    problems = {status: {"$ref": f"#/components/responses/{name}"} for status, (name, _) in _PROBLEMS.items()}
    existing = {"description": "It existed, and was changed.", "headers": _LOCATION}
    others = {"200": existing} if _changes_existing(address, action) else {}
    return {str(answer.status): found, **others, **problems}


def _answer(address: Address, action: str) -> DescribedAnswer:
    """What the action answers: what the view declares, or else what all of its kind do."""
    for each in address.view.__mro__:
        if declared := vars(each).get("answers", {}).get(action):
            return DescribedAnswer(
                declared.status, _of_item(declared.body) if address.path.endswith(">") else declared.body
            )
    if action in _CREATING:
        return DescribedAnswer(201)
    if action in ("list", "retrieve", "export", *_ITEMS_OF):
        return DescribedAnswer(200)
    return DescribedAnswer(200 if address.version == "v2" else 204)


def _of_item(shape: Any) -> Any:
    """A view that answers with a list at its address answers with an item below it."""
    return get_args(shape)[0] if get_origin(shape) is list else shape


def _schema_of_body(
    address: Address, action: str, answer: DescribedAnswer, addresses: Sequence[Address]
) -> dict[str, Any] | None:
    if answer.body is not None:
        return _schema_of_shape(answer.body)
    view = address.view
    if action in _ITEMS_OF:
        view = next(
            each.view for each in addresses if (each.version, each.path) == (address.version, _ITEMS_OF[action])
        )
    elif action not in ("list", "retrieve", "export"):
        return None
    item = _reference(_name(view, "item"))
    return item if action in ("retrieve", "export") else {"type": "array", "items": item}


def _schema_of_shape(shape: Any) -> dict[str, Any]:
    if get_origin(shape) is list:
        return {"type": "array", "items": _schema_of_shape(get_args(shape)[0])}
    return {"type": "object"} if get_origin(shape) is dict else _reference(shape.__name__)


def _shape_schemas(shapes: Sequence[Any]) -> dict[str, Any]:
    """The schemas of these types, and of those in them."""
    types = {shape for shape in map(_of_item, shapes) if isinstance(shape, type)}
    _, found = msgspec.json.schema_components(sorted(types, key=str), ref_template=_SCHEMAS + "{name}")
    return {name: _of_openapi(schema) for name, schema in found.items()}


def _of_openapi(schema: Any) -> Any:
    """A JSON schema in the words of OpenAPI 3.0: what may be null is `nullable`."""
    if isinstance(schema, list):
        return [_of_openapi(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    some = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
    if len(some) == 1:
        return _of_openapi(some[0]) | _NULLABLE
    return {name: _of_openapi(each) for name, each in schema.items() if (name, type(each)) != ("title", str)}


def _changes_existing(address: Address, action: str) -> bool:
    return action == "create" and issubclass(address.view, Collection) and address.view.post_changes_existing


def _schemas(collections: set[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for view in sorted(collections, key=lambda each: (each.version, each.address, each.__name__)):
        yield _name(view, "item"), _schema_of_answer(view.members_of_answer())
        for action, body in view.bodies.items():
            yield _name(view, action), _schema(members_of(body))


def _schema_of_answer(members: Sequence[BodyMember]) -> dict[str, Any]:
    """Without the rules of requests, which items made by commands and in the admin need not follow. Every member but
    the id may be null."""
    properties = {each.name: {**each.schema, **({} if each.name == "id" else _NULLABLE)} for each in members}
    return {"type": "object", "properties": properties}


def _schema(members: Sequence[BodyMember]) -> dict[str, Any]:
    required = [member.name for member in members if member.is_required]
    return {
        "type": "object",
        "properties": {member.name: _member(member) for member in members},
        **({"required": required} if required else {}),
    }


def _member(member: BodyMember) -> dict[str, Any]:
    return dict(member.schema) | {name: value for rule in member.rules for name, value in rule.schema}


def _name(view: Any, action: str) -> str:
    """`v3VendorsCreate`; the classes of version 2 may have it in their names."""
    version: str = view.version
    words = (view.__name__.removesuffix(version.upper()), *action.split("_"))
    return version + "".join(each[:1].upper() + each[1:] for each in words)


def _reference(component: str) -> dict[str, str]:
    return {"$ref": _SCHEMAS + component}


def _words(name: str) -> str:
    """`apiClients` → `api clients`, `upload-claims` → `upload claims`."""
    return _CAPITAL.sub(" ", name).replace("-", " ").lower()
