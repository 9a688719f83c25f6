"""The fixed paths below the root of the server, which many clients have hard-coded, and how they are matched."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, URLResolver, get_resolver, re_path
from django.urls.resolvers import RegexPattern
from django.utils.regex_helper import normalize

DATA = "data"
OAUTH = "oauth/token"
INTROSPECTION = "oauth/token_info"
SHOWN_ONCE = "secret"
DISCOVERY = ""
METADATA = "metadata"
SPECIFICATIONS = "metadata/specifications"
RESOURCES_SPECIFICATION = "metadata/specifications/resources-spec.json"
DESCRIPTORS_SPECIFICATION = "metadata/specifications/descriptors-spec.json"
PROFILE_SPECIFICATION = "metadata/specifications/profiles/<name>/resources-spec.json"
DISCOVERY_SPECIFICATION = "metadata/specifications/discovery-spec.json"
DEPENDENCIES = "metadata/dependencies"
CHANGE_QUERIES_SPECIFICATION = "metadata/changequeries/v1/swagger.json"
BATCH_SPECIFICATION = "metadata/specifications/batch-spec.json"
RELATIONS_SPECIFICATION = "metadata/specifications/relations-spec.json"
HISTORY_SPECIFICATION = "metadata/specifications/history-spec.json"
SUBMISSIONS_SPECIFICATION = "metadata/specifications/submissions-spec.json"
VALIDATION_SPECIFICATION = "metadata/specifications/validation-spec.json"
XSD = "metadata/xsd"
RELATIONS = "relations/v1"
CHANGE_QUERIES = "changeQueries/v1"
AVAILABLE_CHANGE_VERSIONS = "changeQueries/v1/availableChangeVersions"
VALIDATION = "validation/v1"
HISTORY = "history/v1"
SUBMISSIONS = "submissions/v1"
BATCH = "batch"
BATCH_ALIAS = "bulk"
HEALTH = "health"

_PARAMETER = re.compile(r"<(\w+)>")


def root_of(request: HttpRequest) -> str:
    """The URL at which the client reaches this server, without a trailing slash; it ends with the segments of the
    context in the address of the request."""
    return _url(request, request.META.get("SCRIPT_NAME", ""))


def base_of(request: HttpRequest) -> str:
    """Return the base of the address of a request without a context."""
    context = "".join(f"/{segment}" for segment in context_segments(request))
    return _url(request, request.META.get("SCRIPT_NAME", "").removesuffix(context))


def context_segments(request: HttpRequest) -> tuple[str, ...]:
    """The segments of the context in the address of the request, as the client wrote them."""
    return getattr(request, "context_segments", ())


def _url(request: HttpRequest, path: str) -> str:
    return request.build_absolute_uri(f"{path}/").rstrip("/")


def standard_segment(package_name: str) -> str:
    """`v5.2` for the package `ed-fi-model-5.2`: the segment of the original Meadowlark in place of `data`."""
    return "v" + package_name.rpartition("-")[2]


def fixed_path(address: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
    """A route that matches case-insensitively, with an optional trailing slash; `<name>` in it matches any segment."""
    return re_path(rf"^{_pattern(address)}/?\Z", view, name=name)


@cache
def first_segments(urlconf: Any) -> frozenset[str]:
    """The words with which paths of this URL map begin, case-folded; not those that are parameters."""
    beginnings = {beginning.partition("/")[0] for beginning in _beginnings(get_resolver(urlconf).url_patterns)}
    return frozenset(each.casefold() for each in beginnings if each and not each.startswith("%("))


def _beginnings(routes: Iterable[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    """Beginnings of the paths of routes, each with its first segment; a parameter is `%(name)s`."""
    for route in routes:
        pattern = route.pattern
        is_regex = isinstance(pattern, RegexPattern)
        own = normalize(pattern.regex.pattern)[0][0] if is_regex else str(pattern).replace("<", "%(")
        beginning = before + own
        if "/" in beginning or isinstance(route, URLPattern):
            yield beginning
        else:
            yield from _beginnings(route.url_patterns, beginning)


def below(address: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
    """A route for every path below an address that no earlier route matches."""
    return re_path(rf"^{_pattern(address)}/", view, name=name)


def _pattern(address: str) -> str:
    fixed_and_parameters = _PARAMETER.split(address)
    fixed_and_parameters[::2] = map(_in_any_case, fixed_and_parameters[::2])
    fixed_and_parameters[1::2] = [f"(?P<{name}>[^/]+)" for name in fixed_and_parameters[1::2]]
    return "".join(fixed_and_parameters)


def _in_any_case(text: str) -> str:
    """A case-insensitive regular expression for `text`, without the flag `i`, which Django cannot reverse."""
    return "".join(f"[{letter.lower()}{letter.upper()}]" if letter.isalpha() else re.escape(letter) for letter in text)
