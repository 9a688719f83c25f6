"""Filters → conditions on stored bodies: an example document that matching bodies contain.

Containment (`@>`) is what the GIN index over the bodies serves; there is no other search engine.
"""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Q

from edfi_api.queries.parameters import Filter
from edfi_api.surface.resource import ALL_ITEMS, JsonPath

ID_FIELD = "id"


def conditions(filters: Iterable[Filter]) -> list[Q]:
    """One condition per filter; all must hold. A field with several paths matches at any of them."""
    return [_condition(filter_) for filter_ in filters]


def _condition(filter_: Filter) -> Q:
    if filter_.field.name == ID_FIELD:
        return _has_id(filter_.value)
    return reduce(or_, (Q(body__contains=example(path, filter_.value)) for path in filter_.field.paths))


def _has_id(text: str) -> Q:
    try:
        return Q(document_uuid=UUID(text))
    except ValueError:
        return Q(pk__in=())


def example(path: JsonPath, value: Any) -> Any:
    """The smallest body with this value at this path: `{"schoolReference": {"schoolId": 122}}`."""
    for step in reversed(path.steps):
        value = [value] if step == ALL_ITEMS else {step: value}
    return value
