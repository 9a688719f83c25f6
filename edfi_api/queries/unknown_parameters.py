"""Whether a query parameter that a resource does not have may be meant as a filter."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from edfi_api.model.surface.resource import Resource

_SERVER_MEMBERS = ("_etag", "_lastModifiedDate")
_SEPARATORS = re.compile(r"[^0-9a-z]+|_+")
# Of other APIs, before or behind the name of a member: `birthDate.gte`, `birthDate__lt`, `minBirthDate`.
_COMPARISONS = (
    "after", "before", "begins", "beginswith", "between", "contains", "ends", "endswith", "eq", "equals", "exact",
    "exists", "from", "ge", "greaterthan", "gt", "gte", "icontains", "iexact", "ilike", "in", "is", "isnull", "le",
    "lessthan", "like", "lt", "lte", "max", "min", "ne", "neq", "nin", "not", "notequal", "notin", "prefix", "since",
    "starts", "startswith", "suffix", "to", "until",
)  # fmt: skip
# Parameters of other APIs that contain filters: `$filter`, `filter[lastSurname]`.
_FILTERS = frozenset({"filter", "filters", "where"})


class MeantFilters:
    """The names of a resource's members, at every depth, for which parameters with other names may stand."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource

    def match(self, name: str) -> bool:
        """Whether the parameter `name` is spelt like a member or a comparison of one. Without regard to case, and to
        what separates its words."""
        words = [word for word in _SEPARATORS.split(name.lower()) if word]
        joined = "".join(words)
        return (
            joined in self._members
            or not _FILTERS.isdisjoint(words)
            or any(rest in self._members for rest in _without_comparison(joined))
            or (_has_parts(name) and not self._members.isdisjoint(words))
        )

    @cached_property
    def _members(self) -> frozenset[str]:
        return frozenset(name.lower().lstrip("_") for name in (*_SERVER_MEMBERS, *_names(self._resource.json_schema)))


def _without_comparison(name: str) -> Iterator[str]:
    for word in _COMPARISONS:
        yield name.removesuffix(word)
        yield name.removeprefix(word)


def _has_parts(name: str) -> bool:
    """Whether the name may be a path or a comparison, such as `address.city`; `api_version` is not."""
    return "__" in name or any(not (letter.isalnum() or letter in "_-") for letter in name)


def _names(schema: dict[str, Any]) -> Iterator[str]:
    for name, member in schema.get("properties", {}).items():
        yield name
        yield from _names(member)
    if "items" in schema:
        yield from _names(schema["items"])
