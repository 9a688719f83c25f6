"""The search text of the document list → the documents with matching natural keys.

    604822                                          in any member of the key
    studentUniqueId=604822                          in the member of this name
    NK#entryDate=2025-08-20#studentReference.studentUniqueId=604822     all of these: a natural key, or parts of it
    uri://ed-fi.org/GradeLevelDescriptor#Ninth grade                    a descriptor
    Mae Ortiz                                       by name, as written and with capital initials

Values are compared whole, through the GIN index over the bodies, so documents that do not match are not read. The
number of results per resource is limited, which bounds the cost of a search.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice, permutations, product
from typing import Any

from django.db import connections
from django.db.models import Case, IntegerField, Value, When

from edfi_api.core.documents import json_text
from edfi_api.core.documents.coercion import coerce_boolean, coerce_date, coerce_number
from edfi_api.core.documents.extraction import descriptor_id
from edfi_api.core.storage import resource_types
from edfi_api.model.surface.resource import JsonPath, QueryType, Resource, Surface
from edfi_api.web.admin_kit import natural_keys
from edfi_api.web.admin_kit.natural_keys import KeyElement
from references.models import Alias

_NAME = re.compile(r"(?:^|[a-z])(?:[nN]ame|[sS]urname|[tT]itle)(?:OfInstitution)?$")
_MOST_WORDS = 3
# Assignments of words to members of one resource; a search of all resources tries this many of each.
_MOST_NAMES = 12
HELP = (
    "A value of a natural key such as 604822, a part of one such as studentUniqueId=604822, a whole natural key, "
    "the URI of a descriptor, a name such as Mae Ortiz, organization=255901, or an id"
)
# Most documents per resource: when the filter selects a single resource, and when all are searched.
FOUND_IN_ONE = 1_000
FOUND_IN_EACH = 50
# Most assignments of the elements to the members of one key; a realistic search has fewer.
_MOST_EXAMPLES = 20
_FIND = """
(SELECT id FROM document
  WHERE resource_type_id = %s AND scoped_body(resource_type_id, body) @> %s::jsonb LIMIT %s)
"""
# The number of a resource type, and what its documents contain.
Example = tuple[int, dict[str, Any]]


def name_examples(text: str, resource: Resource) -> Iterator[dict[str, Any]]:
    """Example bodies that have the text in one member, or its words in several."""
    members = name_members(resource)
    found = dict.fromkeys(_example_names(text.strip(), members))
    yield from (dict(each) for each in islice(found, _MOST_NAMES))


def name_members(resource: Resource) -> list[str]:
    """The members at the root that are names, those that are no part of the key too."""
    return [
        path.steps[0]
        for field in resource.query_fields
        for path in field.paths
        if field.type is QueryType.STRING and len(path.steps) == 1 and _NAME.search(path.steps[0])
    ]


def _example_names(text: str, members: list[str]) -> Iterator[tuple[tuple[str, str], ...]]:
    for spelled in dict.fromkeys((text, text.title())):
        yield from (((member, spelled),) for member in members)
        words = spelled.split()
        if 1 < len(words) <= _MOST_WORDS:
            yield from (tuple(sorted(zip(chosen, words, strict=True))) for chosen in permutations(members, len(words)))


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The ids of the found rows; `has_more` if there may be others."""

    rows: list[int]
    has_more: bool


def find(text: str, surface: Surface, numbers: Collection[int], using: str) -> FoundRows:
    """The documents that match the text, of the resource types with these numbers."""
    names = {number: name for number, name in resource_types.names(using).items() if number in numbers}
    resources = {number: found for number, name in names.items() if (found := surface.by_name.get(name))}
    most = FOUND_IN_ONE if len(resources) == 1 else FOUND_IN_EACH
    examples = [*_examples_of_all(resources, natural_keys.elements(text)), *_names(resources, text)]
    rows = _rows_like(examples, most, using)
    described = _descriptors(natural_keys.without_prefix(text), resources.values(), using)
    return FoundRows(list(dict.fromkeys([*described, *rows]))[:FOUND_IN_ONE], has_more=len(rows) >= most)


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
    whens = [When(resource_type_id__in=numbers, then=Value(length)) for length, numbers in lengths.items()]
    return Case(*whens, default=Value(max(lengths, default=0) + 1), output_field=IntegerField())


def _names(resources: Mapping[int, Resource], text: str) -> Iterator[Example]:
    """Example bodies with the text as a name. Text with `=` or `#` is a part of a key."""
    if "=" in text or "#" in text:
        return
    for number, resource in resources.items():
        for body in name_examples(text, resource):
            yield number, {str(number): body}


def _rows_like(examples: Iterable[Example], most: int, using: str) -> list[int]:
    """Ids of documents that contain one of the examples, at most `most` for each."""
    arguments = [argument for number, body in examples for argument in (number, json_text.dumps(body).decode(), most)]
    if not arguments:
        return []
    with connections[using].cursor() as cursor:
        cursor.execute(" UNION ALL ".join([_FIND] * (len(arguments) // 3)), arguments)
        return [row for (row,) in cursor.fetchall()]


def _examples_of_all(resources: Mapping[int, Resource], elements: Sequence[KeyElement]) -> Iterator[Example]:
    """Resource type numbers with example bodies, in the form of the index."""
    for number, resource in resources.items():
        for body in _examples(resource, elements):
            yield number, {str(number): body}


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
