"""`GET metadata/specifications`: the OpenAPI document of the management API, made of its routes and shapes. An address
is data, of which routes are made, too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from ..bodies import BodyMember, members_of
from ..collections import Collection
from ..scopes import Scope
from ..views import AnonymousView, base_address

_PARAMETER = re.compile(r"<(\w+)>")
_SECURITY = "oauth2_client_credentials"
_PROBLEMS = {
    "400": "The request breaks rules; the body says which.",
    "401": "There is no valid token.",
    "403": "The scopes of the token do not allow it.",
    "404": "There is no such item.",
    "415": "By its Content-Type, the body is not JSON.",
    "429": "There were too many requests; the header Retry-After says when to go on.",
    "409": "A reference does not resolve, a name is taken, or a concurrent request interfered.",
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
    return {
        "openapi": "3.1.1",
        "info": {"title": "Ed-Fi API Configuration Service API", "version": "v3"},
        "servers": [{"url": base}],
        "tags": [{"name": name} for name in sorted({address.tag for address in addresses})],
        "security": [{_SECURITY: [Scope.FULL_ACCESS]}],
        "paths": {address.template: dict(_operations(address)) for address in addresses},
        "components": {
            "schemas": dict(_schemas(collections)),
            "responses": {
                status: {"description": text, "content": {"application/problem+json": {"schema": _OBJECT}}}
                for status, text in _PROBLEMS.items()
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


_OBJECT: Mapping[str, Any] = {"type": "object"}


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


def _operations(address: Address) -> Iterator[tuple[str, dict[str, Any]]]:
    parameters = [_path_parameter(name) for name in address.parameters]
    for method, action in address.actions.items():
        operation: dict[str, Any] = {
            "operationId": f"{address.version}-{method}-{address.path}".replace("/", "-"),
            "tags": [address.tag],
            "summary": _summary(address, method, action),
            "parameters": [*parameters, *(_query(address) if action == "list" else ())],
            "responses": _responses(address, action),
        }
        if body := getattr(address.view, "bodies", {}).get(action):
            schema = {"$ref": _reference(_name(address.view, action))}
            content = {"schema": schema, "example": dict(body.example)}
            operation["requestBody"] = {"required": True, "content": {"application/json": content}}
        yield method, operation


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


def _responses(address: Address, action: str) -> dict[str, Any]:
    is_v2 = address.version == "v2"
    if action in _CREATING:
        status, described = "201", "Created; the header Location has its address."
    elif action in ("list", "retrieve", "reset_credential", "get") or is_v2 or address.actions.get("get") == action:
        status, described = "200", "The answer."
    else:
        status, described = "204", "Done."
    found: dict[str, Any] = {"description": described}
    others = {"200": {"description": "It existed, and was changed."}} if _changes_existing(address, action) else {}
    if action in ("list", "retrieve") and issubclass(address.view, Collection):
        item = {"$ref": _reference(_name(address.view, "item"))}
        schema = {"type": "array", "items": item} if action == "list" else item
        found["content"] = {"application/json": {"schema": schema}}
    return {status: found, **others} | {each: {"$ref": f"#/components/responses/{each}"} for each in _PROBLEMS}


def _changes_existing(address: Address, action: str) -> bool:
    return action == "create" and issubclass(address.view, Collection) and address.view.post_changes_existing


def _schemas(collections: set[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for view in sorted(collections, key=lambda each: (each.version, each.address, each.__name__)):
        yield _name(view, "item"), _schema_of_answer(view.members_of_answer())
        for action, body in view.bodies.items():
            yield _name(view, action), _schema(members_of(body))


def _schema_of_answer(members: Sequence[BodyMember]) -> dict[str, Any]:
    """Without the rules of requests, which items that commands and the admin have made need not follow."""
    return {"type": "object", "properties": {member.name: dict(member.schema) for member in members}}


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
    return f"{view.version}.{view.__name__}.{action.rstrip('_')}"


def _reference(name: str) -> str:
    return f"#/components/schemas/{name}"
