"""The URLs of a server whose addresses have a context: with the segments that a client sent, and with placeholders,
which the variables of OpenAPI describe."""

import re
from collections.abc import Iterable, Sequence

import orjson
from django.http import HttpRequest

from edfi_api.addresses import base_of, context_segments, root_of
from edfi_api.api.metadata.publication import Addresses
from edfi_api.conf import api_settings
from edfi_api.data_stores.routes import routes
from edfi_api.data_stores.routing import RoutingTable

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def addresses_of(request: HttpRequest) -> Addresses:
    """Those of the server for an answer to this request."""
    root = root_of(request)
    names = api_settings.ROUTE_QUALIFIERS
    if not names:
        return Addresses.without_context(root)
    segments = context_segments(request)
    complete = root + _placeholders(names[len(segments) :])
    variables = _variables(names, segments, routes().table())
    return Addresses(root, complete, base_of(request) + _placeholders(names), orjson.dumps(variables).decode())


def _placeholders(names: Iterable[str]) -> str:
    return "".join(f"/{{{name}}}" for name in names)


def _variables(names: Sequence[str], segments: Sequence[str], table: RoutingTable) -> dict[str, dict[str, object]]:
    """By qualifier, as OpenAPI 3.0 describes the variables of a server. `enum` must not be empty there."""
    variables = {}
    for number, name in enumerate(names):
        values = table.values.get((None, name.casefold()), ())
        default = segments[number] if number < len(segments) else next(iter(values), "")
        variable: dict[str, object] = {"default": default, "description": in_words(name)}
        if values:
            variable["enum"] = list(values) if default in values else [default, *values]
        variables[name] = variable
    return variables


def in_words(name: str) -> str:
    """`School Year` for `schoolYear`."""
    return " ".join(word[:1].upper() + word[1:] for word in _WORD.findall(name))
