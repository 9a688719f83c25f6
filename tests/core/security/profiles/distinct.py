"""Bodies in which every value occurs once, as far as its type and the rules of its resource allow.

Bodies of different seeds differ in values that nothing else depends on, and have the same keys, references and
descriptors.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource, ResourceName
from tests.support.factories import DocumentFactory

Body = dict[str, Any]
Steps = tuple[str, ...]

_FIRST_DAY = date(1950, 1, 1)
_SHORTEST_MARKER = 6


class DistinctBody:
    """The full body of a resource; `markers` are the texts of the values that occur once, by their places.

    Collections have a second item where its key consists of plain values. `descriptors` are the descriptors that have
    to be stored first, by their types.
    """

    def __init__(self, resource: Resource, documents: DocumentFactory, seed: int = 0) -> None:
        self._seed = seed
        self._number = 0
        self._fixed = {path.steps for path in _fixed_paths(resource)}
        self._references = {reference.path.steps for reference in resource.references}
        self._keys = {rule.array.steps: [path.steps for path in rule.item_paths] for rule in resource.array_uniqueness}
        self._targets = {each.path.steps: each.target for each in resource.descriptors}
        self._decimals = {limit.path.steps: limit for limit in resource.decimals}
        self.markers: dict[tuple[str | int, ...], str] = {}
        self.descriptors: list[tuple[ResourceName, str]] = []
        self.body: Body = self._object(resource.json_schema, documents.full_body(resource), (), ())

    def _object(self, schema: Body, body: Body, steps: Steps, place: tuple[str | int, ...]) -> Body:
        return {
            name: self._value(schema["properties"][name], value, (*steps, name), (*place, name))
            for name, value in body.items()
        }

    def _value(self, schema: Body, value: Any, steps: Steps, place: tuple[str | int, ...]) -> Any:
        if steps in self._references:
            return value
        match schema["type"]:
            case "object":
                return self._object(schema, value, steps, place)
            case "array":
                items = value * 2 if self._has_plain_key(steps) else value
                below = (*steps, ALL_ITEMS)
                return [self._object(schema["items"], each, below, (*place, i)) for i, each in enumerate(items)]
        return self._scalar(schema, value, steps, place)

    def _has_plain_key(self, steps: Steps) -> bool:
        """Whether a second item can have another key: one whose last value is neither in a reference nor fixed."""
        key = self._keys.get(steps, [])
        places = [(*steps, ALL_ITEMS, *path) for path in key]
        return any(self._is_free(place) and len(path) == 1 for place, path in zip(places, key, strict=True))

    def _is_free(self, steps: Steps) -> bool:
        return steps not in self._fixed and not any(steps[: len(each)] == each for each in self._references)

    def _scalar(self, schema: Body, value: Any, steps: Steps, place: tuple[str | int, ...]) -> Any:
        self._number += 1
        if not self._is_free(steps):
            return value
        if steps in self._targets:
            uri = f"{value.partition('#')[0]}#Distinct {self._number:03}"
            self.descriptors.append((self._targets[steps], uri))
            return self._marked(uri, place)
        is_key = any((*array, ALL_ITEMS, *path) == steps for array, paths in self._keys.items() for path in paths)
        distinct = self._distinct(schema, steps, 0 if is_key else self._seed)
        return value if distinct is None else self._marked(distinct, place)

    def _marked(self, value: Any, place: tuple[str | int, ...]) -> Any:
        self.markers[place] = str(value)
        return value

    def _distinct(self, schema: Body, steps: Steps, seed: int) -> Any:
        """A value of its own; None if the type has too few."""
        number = self._number
        day = _FIRST_DAY + timedelta(days=2000 * seed + number)
        distinct: Any = None
        match schema["type"], schema.get("format"):
            case "string", "date":
                distinct = str(day)
            case "string", "date-time":
                distinct = f"{day}T08:00:00Z"
            case "string", "time":
                distinct = f"{(seed * 3 + number // 3600) % 24:02}:{number // 60 % 60:02}:{number % 60:02}"
            case "string", _ if schema.get("maxLength", 255) >= _SHORTEST_MARKER:
                distinct = f"q{seed}z{number:03}".ljust(schema.get("minLength", 0), "x")
            case "integer", _ if not steps[-1].lower().endswith("schoolyear"):
                large = 7_000_000 + 10_000 * seed + number
                distinct = large if large <= schema.get("maximum", 2**31) else None
            case "number", _ if self._has_room(schema, steps):
                distinct = (seed + 1) * 1000 + number + 0.5
        return distinct

    def _has_room(self, schema: Body, steps: Steps) -> bool:
        """Whether a decimal can have four digits in front of the point and one behind it."""
        limit = self._decimals.get(steps)
        fits = limit is None or (limit.total_digits - limit.decimal_places >= 4 and limit.decimal_places > 0)
        return fits and "maximum" not in schema


def _fixed_paths(resource: Resource) -> Iterator[JsonPath]:
    yield from resource.identity
    for constraint in resource.equality_constraints:
        yield from (constraint.source, constraint.target)
    if resource.superclass is not None:
        yield from (pair.here for pair in resource.superclass.identity)
    yield from resource.organization.parents if resource.organization else ()
