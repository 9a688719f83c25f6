"""Random valid bodies of a resource, and rows of `document` for them.

Every value is different from all others, except those that have to be equal, and those of types with few values: so a
value that a view shows in the wrong column is found out. References need no targets, since the rows are written
without the store; people and descriptors come from small sets of documents that are there.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any
from uuid import uuid4

from django.db import connection

from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.securables import COLUMNS
from edfi_api.core.storage import resource_types
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource, ResourceName, Surface

_PEOPLE = range(1, 5)
DESCRIPTORS = 3
_UNIQUE_ID = "UniqueId"
_COLUMNS = ("document_uuid", "resource_type_id", "body", *COLUMNS)
_INSERT = f"INSERT INTO document ({', '.join(_COLUMNS)}) VALUES ({', '.join(['%s'] * len(_COLUMNS))})"


class RandomBodies:
    """Bodies for the resources of a surface; the same for the same seed. With `extremes`, values are the largest,
    smallest, longest and strangest that the schemas allow, and not different from each other."""

    def __init__(self, surface: Surface, seed: int, *, extremes: bool = False) -> None:
        self.surface = surface
        self.extremes = extremes
        self.validators = DocumentValidators(surface)
        self._random = random.Random(seed)  # noqa: S311  for tests
        self._counter = 0
        self._types = _DescriptorTypes(surface)

    def body(self, resource: Resource, fill: float, most_items: int) -> dict[str, Any]:
        """A valid body: optional members are there with the probability `fill`, arrays have at most so many items."""
        prepare = self.validators[resource.name].validate
        for most in (most_items, most_items, most_items, 1, 1, 1):
            body = _Draft(resource, self, fill, most).body()
            try:
                return prepare(body, lambda _: {}).body
            except DataValidationFailed:
                continue
        plain = RandomBodies(self.surface, self.number())
        return prepare(_Draft(resource, plain, 0, 1).body(), lambda _: {}).body

    def choice(self, extremes: list[Any]) -> Any:
        """One of the extremes, None if they are not wanted or there are none."""
        return self._random.choice(extremes) if self.extremes and extremes else None

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def integer(self, lowest: int, highest: int) -> int:
        return self._random.randint(lowest, highest)

    def number(self) -> int:
        """One that was not given yet."""
        self._counter += 1
        return self._counter

    def descriptor(self, resource: Resource, path: JsonPath) -> str:
        type_ = self._types.of(resource, path)
        return f"uri://ed-fi.org/{type_.resource}#Value {self.integer(1, DESCRIPTORS)}"


class _Draft:
    """One body, made by walking the JSON schema; may break a rule that the schema does not say."""

    def __init__(self, resource: Resource, source: RandomBodies, fill: float, most_items: int) -> None:
        self._resource = resource
        self._source = source
        self._fill = fill
        self._most = most_items
        self._equal = _equal_paths(resource)
        self._values: dict[Any, Any] = {}

    def body(self) -> dict[str, Any]:
        return self._object(self._resource.json_schema, JsonPath(()), ())

    def _object(self, schema: dict[str, Any], path: JsonPath, indexes: tuple[int, ...]) -> dict[str, Any]:
        required = schema.get("required", ())
        made = {}
        for name, member in schema["properties"].items():
            if name in required or self._source.chance(self._fill):
                value = self._value(member, path / name, indexes)
                if value not in ({}, []):
                    made[name] = value
        return made

    def _value(self, schema: dict[str, Any], path: JsonPath, indexes: tuple[int, ...]) -> Any:
        match schema["type"]:
            case "object":
                return self._object(schema, path, indexes)
            case "array":
                least = max(schema.get("minItems", 0), 1 if self._fill == 1 else 0)
                count = self._source.integer(least, max(self._most, least))
                return [self._value(schema["items"], path / ALL_ITEMS, (*indexes, n)) for n in range(count)]
        group = self._equal.get(path)
        key = (path, indexes) if group is None else group
        if key not in self._values:
            self._values[key] = self._scalar(schema, path)
        return self._values[key]

    def _scalar(self, schema: dict[str, Any], path: JsonPath) -> Any:
        name, source = path.steps[-1], self._source
        if name.endswith("Descriptor") and not self._resource.is_descriptor:
            return source.descriptor(self._resource, path)
        if name.endswith(_UNIQUE_ID) and path.steps != (name,):
            return f"P{source.integer(1, len(_PEOPLE))}"
        match schema["type"]:
            case "boolean":
                return source.chance(0.5)
            case "integer":
                return source.choice(_extreme_integers(schema)) or _integer(schema, source.number())
            case "number":
                return source.choice(_extreme_decimals(self._resource, path)) or _decimal(
                    self._resource, path, source.number()
                )
        return source.choice(_extreme_texts(schema)) or _text(schema, source.number())


def _extreme_integers(schema: dict[str, Any]) -> list[int]:
    bits = {"int32": 31, "int64": 63}.get(schema.get("format", ""), 63)
    return [schema.get("minimum", -(2**bits)), schema.get("maximum", 2**bits - 1), schema.get("maximum", 99_999)]


def _extreme_decimals(resource: Resource, path: JsonPath) -> list[Any]:
    limit = next(limit for limit in resource.decimals if limit.path == path)
    largest = (10**limit.total_digits - 1) / 10**limit.decimal_places
    return [largest, -largest, 0.1 + 0.2, 1e-12]


def _extreme_texts(schema: dict[str, Any]) -> list[str]:
    match schema.get("format"):
        case "date":
            return ["0001-01-01", "9999-12-31", "2024-02-29"]
        case "date-time":
            return ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
        case "time":
            return ["00:00:00", "23:59:59"]
    longest = schema.get("maxLength", 300)
    return ["\U0001f4a1" * longest, "'" * longest, "\u0001" + "\\" * (longest - 1), "x"[:longest]]


def _integer(schema: dict[str, Any], number: int) -> int:
    lowest, highest = schema.get("minimum", 0), schema.get("maximum", 30_000)
    return int(lowest) + number % max(int(highest) - int(lowest), 1)


def _decimal(resource: Resource, path: JsonPath, number: int) -> float:
    limit = next(limit for limit in resource.decimals if limit.path == path)
    whole = 10 ** (limit.total_digits - limit.decimal_places)
    return number % min(whole, 1000) + (number % 10) / 10 if limit.decimal_places else number % whole


def _text(schema: dict[str, Any], number: int) -> str:
    match schema.get("format"):
        case "date":
            return (date(1990, 1, 1) + timedelta(days=number)).isoformat()
        case "date-time":
            return f"{(date(1990, 1, 1) + timedelta(days=number)).isoformat()}T08:15:00Z"
        case "time":
            return f"{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}"
    return f"v{number}".ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength", 255)]


def _equal_paths(resource: Resource) -> dict[JsonPath, JsonPath]:
    """The paths whose values must be equal, each with one that stands for its group."""
    leader: dict[JsonPath, JsonPath] = {}
    for rule in resource.equality_constraints:
        first, second = (leader.get(path, path) for path in (rule.source, rule.target))
        leader |= {path: first for path, other in leader.items() if other == second}
        leader |= {rule.source: first, rule.target: first, first: first, second: first}
    return leader


class _DescriptorTypes:
    """The descriptor type at each path, also inside references."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    def of(self, resource: Resource, path: JsonPath) -> ResourceName:
        for descriptor in (*resource.descriptors, *resource.key_descriptors):
            if descriptor.path == path:
                return descriptor.target
        raise LookupError(f"{resource.name}: no descriptor at {path}")


class Rows:
    """Writes rows of `document`."""

    def __init__(self, surface: Surface, validators: DocumentValidators) -> None:
        self._surface = surface
        self._validators = validators

    def write(self, resource: Resource, body: dict[str, Any]) -> str:
        """Insert a document with its securable columns; its id."""
        incoming = self._validators[resource.name].understand(body)
        values = [
            str(uuid4()),
            resource_types.numbers("default")[resource.name],
            json.dumps(body),
            *incoming.securables,
        ]
        with connection.cursor() as cursor:
            cursor.execute(_INSERT, values)
        return values[0]

    def write_what_others_name(self, bodies: RandomBodies) -> None:
        """People and descriptors."""
        for resource in self._surface.resources:
            if resource.is_descriptor:
                named = _descriptors(resource)
            else:
                named = ({**bodies.body(resource, 0, 1), name: f"P{n}"} for name in _person(resource) for n in _PEOPLE)
            for body in named:
                self.write(resource, body)


def _descriptors(resource: Resource) -> Iterator[dict[str, Any]]:
    for number in range(1, DESCRIPTORS + 1):
        value = f"Value {number}"
        namespace = f"uri://ed-fi.org/{resource.name.resource}"
        yield {"namespace": namespace, "codeValue": value, "shortDescription": value}


def _person(resource: Resource) -> list[str]:
    """The unique id, if the resource is a person."""
    names = [path.steps[-1] for path in resource.identity if len(path.steps) == 1]
    return names if len(names) == len(resource.identity) == 1 and names[0].endswith(_UNIQUE_ID) else []
