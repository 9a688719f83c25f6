"""Bodies with very many items, made from the surface."""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from typing import Any

from edfi_api.model.surface.resource import ALL_ITEMS, ArrayUniqueness, JsonPath, Resource, Surface
from tests.support.factories import DocumentFactory

Body = dict[str, Any]


def heaviest_array(
    surface: Surface, documents: DocumentFactory, paths: Callable[[Resource], Iterable[JsonPath]]
) -> tuple[Resource, ArrayUniqueness]:
    """The root array whose items have most of these paths per length, with its rule of uniqueness."""

    def weight(place: tuple[Resource, ArrayUniqueness]) -> float:
        resource, rule = place
        [array] = rule.array.steps
        below = [path for path in paths(resource) if path.steps[:2] == (array, ALL_ITEMS)]
        return len(below) / separators(documents.full_body(resource)[array])

    return max(_root_arrays(surface), key=weight)


def _root_arrays(surface: Surface) -> Iterator[tuple[Resource, ArrayUniqueness]]:
    for resource in surface.resources:
        for rule in resource.array_uniqueness:
            if len(rule.array.steps) == 1 and rule.array.steps[0] in resource.json_schema["properties"]:
                yield resource, rule


def separators(value: Any) -> int:
    """The number of commas and opening brackets in the JSON text, which approximates the number of values."""
    text = json.dumps(value)
    return sum(text.count(character) for character in ",[{")


def filled(body: Body, rule: ArrayUniqueness, number: int) -> Body:
    """The body with this number of items in the array, copies of its first one except for their unique values."""
    [array] = rule.array.steps
    item = json.dumps(body[array][0])
    return body | {array: [_distinct(json.loads(item), rule, index) for index in range(number)]}


def _distinct(item: Body, rule: ArrayUniqueness, index: int) -> Body:
    *way, last = rule.item_paths[0].steps
    place = item
    for step in way:
        place = place[step]
    place[last] = _varied(place[last], index)
    return item


def _varied(value: Any, index: int) -> Any:
    if isinstance(value, int):
        return index + 1
    try:
        return str(date.fromisoformat(value) + timedelta(days=index))
    except ValueError:
        return f"{value}{index}"
