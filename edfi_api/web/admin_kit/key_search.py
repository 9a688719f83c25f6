"""The search text of the document list → the documents with matching natural keys.

    604822                                          in any member of the key
    studentUniqueId=604822                          in the member of this name
    NK#entryDate=2025-08-20#studentReference.studentUniqueId=604822     all of these: a natural key, or parts of it
    uri://ed-fi.org/GradeLevelDescriptor#Ninth grade                    a descriptor
    mae ortiz; Ortiz, M                             by name (`core/queries/name_index.py`)

Values of keys are compared whole, through the GIN index over the bodies, so documents that do not match are not read.
The number of results per resource is limited, and so is the time, which bounds the cost of a search.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice, product
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Case, IntegerField, Value, When

from edfi_api.core.documents import json_text
from edfi_api.core.documents.coercion import coerce_boolean, coerce_date, coerce_number
from edfi_api.core.documents.extraction import descriptor_id
from edfi_api.core.queries import name_index
from edfi_api.core.queries.name_index import named_resources
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import find_in_time
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.model.surface.resource import JsonPath, QueryType, Resource, Surface
from edfi_api.web.admin_kit import natural_keys
from edfi_api.web.admin_kit.natural_keys import KeyElement
from references.models import Alias

HELP = (
    "A value of a natural key such as 604822, a part of one such as studentUniqueId=604822, a whole natural key, "
    "the URI of a descriptor, a name or its beginning, organization=255901, or an id"
)
# Most documents per resource: when the filter selects a single resource, and when all are searched.
FOUND_IN_ONE = 1_000
FOUND_IN_EACH = 50
# Most assignments of the elements to the members of one key; a realistic search has fewer.
_MOST_EXAMPLES = 20
# The number of the resource stands in the example.
_FIND = """
SELECT found.id FROM unnest(%(examples)s::jsonb[]) AS example CROSS JOIN LATERAL (
    SELECT id FROM document WHERE scoped_body(resource_type_id, body) @> example LIMIT %(most)s
) AS found
"""
_MILLISECONDS = 1_000


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The ids of the found rows; `has_more` if there may be others."""

    rows: list[int]
    has_more: bool


def find(text: str, surface: Surface, numbers: Collection[int], using: str) -> FoundRows:
    """The documents that match the text, of the resource types with these numbers."""
    most = FOUND_IN_ONE if len(numbers) == 1 else FOUND_IN_EACH
    keys = find_keys(text, surface, numbers, most, using)
    names = find_names(text, numbers, FOUND_IN_ONE, using)
    rows = list(dict.fromkeys([*keys, *names]))
    return FoundRows(rows[:FOUND_IN_ONE], has_more=len(keys) >= most or len(names) >= FOUND_IN_ONE)


def find_keys(text: str, surface: Surface, numbers: Collection[int], most: int, using: str) -> list[int]:
    """The documents that have the text, or the values in it, in their keys: at most `most` for each way to have it."""
    names = {number: name for number, name in resource_types.names(using).items() if number in numbers}
    resources = {number: found for number, name in names.items() if (found := surface.by_name.get(name))}
    rows = _rows_like(_examples_of_all(resources, natural_keys.elements(text)), most, using)
    return list(dict.fromkeys([*_descriptors(natural_keys.without_prefix(text), resources.values(), using), *rows]))


def find_names(text: str, numbers: Collection[int], most: int, using: str) -> list[int]:
    """The documents with the words of the text in their names: none for a part of a key, or without the index."""
    index = named_resources().index(using)
    if "=" in text or "#" in text or not index.is_usable(using):
        return []
    return name_index.find(index, name_index.words_of(text, DEFAULT_DB_ALIAS), numbers, most, using).rows


def organization_in(text: str) -> int | None:
    """The id in `organization=255901`; None for any other text."""
    name, _, value = text.partition("=")
    return int(value) if name.strip().lower() == "organization" and value.isdecimal() and len(value) < 19 else None


def rank(surface: Surface, using: str) -> Case:
    """Return a rank by the number of values that identify the documents of a resource: a student comes before its
    associations.
    """
    lengths: dict[int, list[int]] = {}
    for number, name in resource_types.names(using).items():
        if (resource := surface.by_name.get(name)) is not None:
            lengths.setdefault(len(resource.identity), []).append(number)
    cases = [When(resource_type_id__in=numbers, then=Value(length)) for length, numbers in lengths.items()]
    return Case(*cases, default=Value(max(lengths, default=0) + 1), output_field=IntegerField())


def _rows_like(examples: Iterable[dict[str, Any]], most: int, using: str) -> list[int]:
    """Ids of documents that contain one of the examples, at most `most` for each."""
    texts = [json_text.dumps(example).decode() for example in examples]
    if not texts:
        return []
    with name_index.by_bitmaps(using):
        found = find_in_time(Sql(_FIND, {"examples": texts, "most": most}), _MILLISECONDS, using)
    return [row for (row,) in found]


def _examples_of_all(resources: Mapping[int, Resource], elements: Sequence[KeyElement]) -> Iterator[dict[str, Any]]:
    """Example bodies below the numbers of their resources, in the form of the index."""
    for number, resource in resources.items():
        for body in _examples(resource, elements):
            yield {str(number): body}


def _examples(resource: Resource, elements: Sequence[KeyElement]) -> Iterator[dict[str, Any]]:
    """Example bodies with every element in a member of the key, one for each distinct assignment."""
    types = {path: field.type for field in resource.query_fields for path in field.paths}
    placements = product(*(list(_places(element, resource, types)) for element in elements))
    for placement in islice(placements, _MOST_EXAMPLES):
        yield reduce(_with, placement, {})


def _places(
    element: KeyElement, resource: Resource, types: Mapping[JsonPath, QueryType]
) -> Iterator[tuple[JsonPath, Any]]:
    """The paths in the key of this resource where the value can be, each with the value in its stored form."""
    for path in resource.identity:
        value = _stored(element.value, types.get(path, QueryType.STRING))
        if value is not None and (element.name is None or _is_name_of(path, element.name)):
            yield path, value


def _is_name_of(path: JsonPath, name: str) -> bool:
    return name.lower() in (path.without_root().lower(), path.steps[-1].lower())


def _with(body: dict[str, Any], placed: tuple[JsonPath, Any]) -> dict[str, Any]:
    path, value = placed
    step, *rest = path.steps
    return body | {step: _with(body.get(step, {}), (JsonPath(tuple(rest)), value)) if rest else value}


def _stored(text: str, type_: QueryType) -> Any:
    """The text as a value of stored bodies; None if it is no value of this type."""
    match type_:
        case QueryType.NUMBER:
            number = coerce_number(text)
            return None if isinstance(number, str) else number
        case QueryType.BOOLEAN:
            boolean = coerce_boolean(text)
            return boolean if isinstance(boolean, bool) else None
        case QueryType.DATE:
            return coerce_date(text)
    return text


def _descriptors(uri: str, resources: Iterable[Resource], using: str) -> list[int]:
    """Ids of the descriptors with this URI, case-insensitively: one for each type that has it."""
    types = [resource.name for resource in resources if resource.is_descriptor] if "#" in uri else []
    ids = [descriptor_id(name, uri) for name in types]
    return list(Alias.objects.using(using).filter(pk__in=ids).values_list("document_id", flat=True))
