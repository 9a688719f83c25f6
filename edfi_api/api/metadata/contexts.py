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

_TENANT = "tenant"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def addresses_of(request: HttpRequest) -> Addresses:
    """Those of the server for an answer to this request."""
    root = root_of(request)
    names = [*([_TENANT] if api_settings.MULTI_TENANCY else []), *api_settings.ROUTE_QUALIFIERS]
    if not names:
        return Addresses.without_context(root)
    segments = context_segments(request)
    complete = root + _placeholders(names[len(segments) :])
    variables = {
        name: _variable(name, segments[number : number + 1], _values(request, name))
        for number, name in enumerate(names)
    }
    return Addresses(root, complete, base_of(request) + _placeholders(names), orjson.dumps(variables).decode())


def tenant_of(request: HttpRequest) -> int | None:
    """The id of the tenant in the address; None if it has none."""
    segments = context_segments(request)
    if not api_settings.MULTI_TENANCY or not segments:
        return None
    found = routes().table().tenants.get(segments[0].casefold())
    return None if found is None else found.id


def _placeholders(names: Iterable[str]) -> str:
    return "".join(f"/{{{name}}}" for name in names)


def _values(request: HttpRequest, name: str) -> tuple[str, ...]:
    """The values of a segment that may be shown: with tenants only those of the tenant in the address."""
    tenant = tenant_of(request)
    if name == _TENANT:
        return context_segments(request)[:1]
    if api_settings.MULTI_TENANCY and tenant is None:
        return ()
    return routes().table().values.get((tenant, name.casefold()), ())


def _variable(name: str, segment: Sequence[str], values: Sequence[str]) -> dict[str, object]:
    """As OpenAPI 3.0 describes a variable of a server. `enum` must not be empty there."""
    default = next(iter((*segment, *values)), "")
    variable: dict[str, object] = {"default": default, "description": in_words(name)}
    if values:
        variable["enum"] = list(values) if default in values else [default, *values]
    return variable


def in_words(name: str) -> str:
    """`School Year` for `schoolYear`."""
    return " ".join(word[:1].upper() + word[1:] for word in _WORD.findall(name))
