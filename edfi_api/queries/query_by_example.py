"""Filters → conditions on stored bodies: an example document that matching bodies contain.

Containment (`@>`) is what the GIN index over the bodies serves; there is no other search engine. It compares exactly,
so a descriptor is asked for in the spelling of the stored one, which bodies have too.
"""

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, F, Func, Q, Value

from edfi_api.documents import json_text
from edfi_api.documents.extraction import descriptor_id
from edfi_api.documents.spelling import stored_spellings
from edfi_api.queries.parameters import Filter
from edfi_api.surface.resource import ALL_ITEMS, JsonPath, Resource, ResourceName

ID_FIELD = "id"


class _Contains(Func):
    """Django's own `contains` would write the example with Python's json, which has no exact decimals."""

    template = "(%(expressions)s::jsonb)"
    arg_joiner = " @> "
    output_field = BooleanField()


def conditions(resource: Resource, filters: Iterable[Filter], using: str) -> list[Q]:
    """One condition per filter; all must hold. A field with several paths matches at any of them."""
    descriptors = {entry.path: entry.target for entry in (*resource.descriptors, *resource.key_descriptors)}
    return [_condition(filter_, descriptors, using) for filter_ in filters]


def _condition(filter_: Filter, descriptors: Mapping[JsonPath, ResourceName], using: str) -> Q:
    if filter_.field.name == ID_FIELD:
        return _has_id(filter_.value)
    return reduce(or_, (_has_value(path, filter_.value, descriptors, using) for path in filter_.field.paths))


def _has_value(path: JsonPath, value: Any, descriptors: Mapping[JsonPath, ResourceName], using: str) -> Q:
    if path in descriptors:
        id_ = descriptor_id(descriptors[path], value)
        value = stored_spellings([id_], using).get(id_, value)
    return Q(_Contains(F("body"), Value(json_text.dumps(example(path, value)).decode())))


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
