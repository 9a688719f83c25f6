"""`GET metadata/specifications`: the OpenAPI document of the management API, made by drf-spectacular of its views.

The names of components and operations are those from which programs have been generated; fields name their schemas
themselves, and every operation has the same answers to requests that are refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.generators import EndpointEnumerator, SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from rest_framework.serializers import ListSerializer, Serializer

from edfi_api.features.management_api.answers import AnswerSerializer, RemovedItem
from edfi_api.features.management_api.bodies import BodyField
from edfi_api.features.management_api.listing import UNFILTERED, fields_of
from edfi_api.features.management_api.scopes import Scope
from edfi_api.web.metadata.openapi import VERSION, publisher, with_used_components
from edfi_api.web.metadata.responses import PROBLEM, PROBLEM_SCHEMA

Schema = dict[str, Any]
_PARAMETER = re.compile(r"{(\w+)}")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_READING = "The token needs a scope that allows to read."
_WRITING = f"The token needs the scope {Scope.FULL_ACCESS}."
_DONE = {200: "The answer.", 201: "Created; the header Location has its address.", 204: "Done."}
_SECURITY = "oauth2_client_credentials"
# Each status has the name of its component, and its description.
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
# Summaries by the action of a collection; other actions are distinguished by their address.
_SUMMARIES = {
    "list": "Lists {tag}",
    "retrieve": "Reads one of {tag}",
    "create": "Creates one of {tag}",
    "update": "Replaces one of {tag}",
    "destroy": "Deletes one of {tag}",
    "reset_credential": "Makes a new secret for one of {tag}",
    "applications": "Lists applications of one of {tag}",
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
# In names of components, the collections of actions, and of addresses, that are called otherwise.
_COLLECTIONS = {
    **dict.fromkeys(("add_grant", "change_grant", "override"), "grants"),
    "applications": "applications",
    "apiclients": "apiClients",
}
_ITEMS = ("list", "retrieve", "export", "applications")
_LOCATION = {"Location": {"description": "Where the item is.", "schema": {"type": "string", "format": "uri"}}}
_PARAMETERS: Mapping[str, Schema] = {
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


@dataclass(frozen=True)
class Address:
    """A route below a version: `path` is `vendors/<id>`, `view` what Django calls."""

    version: str
    path: str
    view: Any

    @property
    def template(self) -> str:
        """The template of the path, `/v3/vendors/{id}`."""
        return f"/{self.version}/{self.path}".replace("<", "{").replace(">", "}")

    @property
    def actions(self) -> Mapping[str, str]:
        """The actions of the view by method, in lower case."""
        return {method: action for method, action in self.view.actions.items() if method != "head"}

    @property
    def is_served(self) -> bool:
        """Whether the settings let the address exist."""
        return bool(self.view.cls.is_served())

    @property
    def tag(self) -> str:
        """The collection that the address belongs to."""
        return self.path.partition("/")[0]


class BodyFieldSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """The schema of a member: in requests with its rules; in answers without them, which items made by commands and in
    the admin need not follow."""

    target_class = BodyField
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> Schema | None:  # type: ignore[override]  # as the caller takes it
        member: BodyField = self.target
        is_request = direction == "request"
        if member.read_only if is_request else member.write_only:
            return None
        schema = _schema(member)
        if isinstance(member.parent, AnswerSerializer):
            return schema | ({"nullable": True} if member.allow_null else {})
        if is_request:
            for rule in member.validators:
                schema |= getattr(rule, "schema", {})
        elif member.field_name != "id":
            schema["nullable"] = True
        return schema


def _schema(member: BodyField) -> Schema:
    """The schema of the type. Of what may be null in a request, only numbers and booleans are described without it."""
    schema = dict(member.schema)
    child = getattr(member, "child", None)
    if child is not None:
        schema = {"type": "array", "items": _schema(child)}
    is_nullable = member.allow_null and schema["type"] not in ("integer", "boolean")
    return schema | ({"nullable": True} if is_nullable else {})


class ManagementSchema(AutoSchema):
    """An operation of the document."""

    view: Any

    def get_operation(self, *args: Any, **kwargs: Any) -> Schema:
        return {"parameters": [], **(super().get_operation(*args, **kwargs) or {})}

    def get_operation_id(self) -> str:
        """A name that generators make a method of: `putV3ApplicationsByIdResetCredential`."""
        path = _PARAMETER.sub(r"by-\1", self.path).replace("_", "-").replace("/", "-")
        return self.method.lower() + "".join(each[:1].upper() + each[1:] for each in path.split("-"))

    def get_tags(self) -> list[str]:
        return [_tag(self.path)]

    def get_summary(self) -> str:
        """Return the summary of an operation: by default the path with what the method does."""
        verb = {"GET": "Shows", "POST": "Takes"}.get(self.method, self.method.capitalize())
        text = _SUMMARIES.get(self.view.action, f"{verb} {self.path}").format(tag=_tag(self.path), id="{id}")
        return f"{text} ({self.path.split('/')[1]})."

    def get_description(self) -> str:  # type: ignore[override]  # as AutoSchema has it
        return _READING if self.method == "GET" else _WRITING

    def get_auth(self) -> list[Schema]:
        return []

    def get_serializer_name(self, serializer: Serializer[Any], direction: str) -> str:
        """`v3VendorsCreate` and `v3VendorsItem`; an answer that is no item has the name of its class."""
        if isinstance(serializer, AnswerSerializer):
            return type(serializer).__name__
        action = self.view.action if direction == "request" else "item"
        collection = _COLLECTIONS.get(self.view.action) or _COLLECTIONS.get(self.view.address, self.view.address)
        return str(self.view.version) + "".join(
            each[:1].upper() + each[1:] for each in (collection, *action.split("_"))
        )

    def _get_serializer_field_meta(self, field: Any, direction: str) -> Schema:
        return {}

    def _map_basic_serializer(self, serializer: Serializer[Any], direction: str) -> Schema:
        schema: Schema = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        if direction == "response" and not isinstance(serializer, AnswerSerializer):
            schema.pop("required", None)
        return schema

    def _get_parameters(self) -> list[Schema]:
        parameters = [
            _reference("parameters", "id") if name == "id" else {**_PARAMETERS["id"], "name": name}
            for name in _PARAMETER.findall(self.path)
        ]
        if self.view.action == "list" and self.view.listing is not UNFILTERED:
            parameters += [_reference("parameters", name) for name in _PAGING]
            filters = fields_of(self.view.listing.filters, self.view.serializer_class)
            parameters += [{"name": each.name, "in": "query", "schema": {"type": "string"}} for each in filters]
        return parameters

    def _get_request_body(self, direction: str = "request") -> Schema | None:
        serializer_class = self.view.get_serializer_class() if self.method in ("POST", "PUT") else None
        if serializer_class is None or not self._has_body(serializer_class):
            return None
        serializer = self.view.get_serializer()
        example = serializer.example
        if serializer.context["repeats_id"]:
            example = {"id": 1, **example}
        schema = self.resolve_serializer(serializer, "request").ref
        return {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}

    def _has_body(self, serializer_class: Any) -> bool:
        is_own = self.view.action in ("create", "update") or self.view.action in self.view.action_serializers
        return is_own and bool(serializer_class.example)

    def _get_response_bodies(self, direction: str = "response") -> Schema:
        status, answer = self._answer()
        found: Schema = {"description": _DONE[status]}
        if answer is not None:
            found["content"] = {"application/json": {"schema": self._schema_of_answer(answer)}}
        if status == 201:
            found["headers"] = _LOCATION
        refused = {code: _reference("responses", name) for code, (name, _) in _PROBLEMS.items()}
        existing = {"description": "It existed, and was changed.", "headers": _LOCATION}
        is_upsert = self.view.action == "create" and getattr(type(self.view), "post_changes_existing", False)
        return {str(status): found, **({"200": existing} if is_upsert else {}), **refused}

    def _answer(self) -> tuple[int, Any]:
        """The status, and what the action answers with: what the view declares, or else what all of its kind do."""
        action, version = self.view.action, self.path.split("/")[1]
        declared: tuple[int, Any] | None = self.view.action_answers.get(action)
        if declared is not None:
            return declared
        if action in _ITEMS:
            item = self.view.get_serializer_class() if action == "applications" else self.view.serializer_class
            return 200, item(many=True) if action in ("list", "applications") else item
        if version == "v2" and action == "destroy":
            return 200, RemovedItem
        return 201 if action in _CREATING else 200 if version == "v2" else 204, None

    def _schema_of_answer(self, answer: Any) -> Schema:
        if isinstance(answer, dict):
            return answer
        if isinstance(answer, ListSerializer):
            return {"type": "array", "items": self._schema_of_answer(answer.child)}
        found: Schema = self.resolve_serializer(answer, "response").ref
        return found


def _tag(path: str) -> str:
    """The collection that an address belongs to."""
    return path.split("/")[2]


def _reference(kind: str, name: str) -> Schema:
    return {"$ref": f"#/components/{kind}/{name}"}


class _Endpoints(EndpointEnumerator):
    """The addresses of the router: their patterns match in any case, so paths cannot be read from them."""

    patterns: Any

    def get_api_endpoints(self, patterns: Any = None, prefix: str = "") -> Any:
        return [
            (each.template, each.template, method.upper(), each.view)
            for each in self.patterns
            for method in each.actions
        ]


class _Generator(SchemaGenerator):
    endpoint_inspector_cls = _Endpoints


@cache
def _described(addresses: tuple[Address, ...]) -> tuple[Schema, Schema]:
    """The paths, and the schemas of their bodies."""
    made = _Generator(patterns=addresses).get_schema(public=True)  # type: ignore[no-untyped-call]
    return made["paths"], made["components"]["schemas"]


def document(addresses: Sequence[Address], base: str) -> Schema:
    """The document of these addresses at `base`."""
    paths, schemas = _described(tuple(addresses))
    tags = sorted({each.tag for each in addresses})
    flow = {"tokenUrl": f"{base}/connect/token", "scopes": {each.value: each.partition("/")[2] for each in Scope}}
    return with_used_components(
        {
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
            "paths": paths,
            "components": {
                "schemas": {PROBLEM: PROBLEM_SCHEMA, **schemas},
                "responses": {
                    name: {
                        "description": text,
                        "content": {"application/problem+json": {"schema": _reference("schemas", PROBLEM)}},
                    }
                    for name, text in _PROBLEMS.values()
                },
                "parameters": _PARAMETERS,
                "securitySchemes": {_SECURITY: {"type": "oauth2", "flows": {"clientCredentials": flow}}},
            },
        }
    )


def _words(name: str) -> str:
    """Return a segment in words: `apiClients` → `api clients`, `upload-claims` → `upload claims`."""
    return _CAPITAL.sub(" ", name).replace("-", " ").lower()
