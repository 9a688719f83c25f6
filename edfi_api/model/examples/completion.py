"""Sparse bodies → valid ones: what the resource requires is added, values of references by their origins.

A sparse body has the members that matter: `{"entryDate": "2025-08-18", "calendarReference": {}}`. Its empty object
stands for a reference whose values are those of the scope. Descriptors are written as code values. Members that the
resource does not have are left out, since standards differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from edfi_api.model.examples.origins import MemberOrigin, Origins
from edfi_api.model.examples.values import scalar
from edfi_api.model.surface.bundled_descriptors import DescriptorValue, descriptor_namespace
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource, ResourceName, Surface

Body = dict[str, Any]
Sparse = Mapping[str, Any]
# The values of the documents that others refer to.
Scope = Mapping[MemberOrigin, Any]

_ABSENT: Any = object()
# Standards mark what they keep for old data in the short description.
_DEPRECATED = "DEPRECATED"


class Bodies:
    """Completes bodies for the resources of one surface, with these descriptor values."""

    def __init__(self, surface: Surface, values: Sequence[DescriptorValue]) -> None:
        self.surface = surface
        self.origins = Origins(surface)
        self._values = values
        self._nodes: dict[ResourceName, _Object] = {}
        self._keys: dict[ResourceName, list[tuple[MemberOrigin, tuple[str, ...]]]] = {}

    def complete(self, resource: Resource, sparse: Sparse, scope: Scope) -> Body:
        """The body with all that is required. Values come from `sparse`, else from the scope, else from the schema."""
        if resource.name not in self._nodes:
            self._nodes[resource.name] = _Object(self, resource, JsonPath(()), resource.json_schema)
        return self._nodes[resource.name].complete(sparse, scope)

    def key(self, resource: Resource, body: Body) -> Scope:
        """What the scope of a document adds for those that refer to it."""
        if resource.name not in self._keys:
            origins = self.origins.of_identity(resource)
            self._keys[resource.name] = [(origin, path.steps) for origin, path in origins]
        return {origin: _value_at(body, steps) for origin, steps in self._keys[resource.name]}

    def has_values(self, descriptor: ResourceName) -> bool:
        """Whether values of this descriptor are bundled with the standard."""
        return descriptor.resource in self._by_descriptor

    def descriptor_value(self, descriptor: ResourceName, code_value: str | None = None) -> DescriptorValue:
        """The value with this code, else the first that is not deprecated, else one that is made up."""
        values = self._by_descriptor.get(descriptor.resource, [])
        if code_value is not None and (found := next((v for v in values if v.code_value == code_value), None)):
            return found
        current = (value for value in values if not value.short_description.startswith(_DEPRECATED))
        namespace = descriptor_namespace(descriptor.resource)
        return next(current, DescriptorValue(descriptor.resource, "Example", "Example", namespace, 0))

    @cached_property
    def _by_descriptor(self) -> dict[str, list[DescriptorValue]]:
        found: dict[str, list[DescriptorValue]] = {}
        for value in self._values:
            found.setdefault(value.descriptor, []).append(value)
        return found


@dataclass(frozen=True)
class _Scalar:
    """A value that is no descriptor."""

    origin: MemberOrigin
    default: Any

    def complete(self, given: Any, scope: Scope) -> Any:
        return scope.get(self.origin, self.default) if given is _ABSENT else given


@dataclass(frozen=True)
class _Descriptor:
    """A descriptor's URI. Without a value of its own it is the one named as the resource, or the first."""

    origin: MemberOrigin
    bodies: Bodies
    target: ResourceName
    default: str

    def complete(self, given: Any, scope: Scope) -> str:
        if given is not _ABSENT:
            return self.bodies.descriptor_value(self.target, given).uri
        return str(scope.get(self.origin, self.default))


@dataclass(frozen=True)
class _Array:
    """A collection; as many items as given, else one."""

    item: "_Node"

    def complete(self, given: Any, scope: Scope) -> list[Any]:
        return [self.item.complete(each, scope) for each in ([_ABSENT] if given is _ABSENT else given)]


class _Object:
    """The root of a body, a common, or a reference."""

    def __init__(self, bodies: Bodies, resource: Resource, path: JsonPath, schema: dict[str, Any]) -> None:
        self._bodies = bodies
        self._resource = resource
        self._path = path
        self._schema = schema
        self._members: dict[str, _Node] = {}

    @cached_property
    def _required(self) -> Sequence[str]:
        """Of a reference everything: it has the whole key of its target, or does not resolve."""
        if any(reference.path == self._path for reference in self._resource.references):
            return list(self._schema["properties"])
        return list(self._schema.get("required", ()))

    def complete(self, given: Any, scope: Scope) -> Body:
        sparse: Sparse = {} if given is _ABSENT else given
        # In the order of the schema, as examples are read.
        names = [name for name in self._schema["properties"] if name in self._required or name in sparse]
        return {name: self._member(name).complete(sparse.get(name, _ABSENT), scope) for name in names}

    def _member(self, name: str) -> "_Node":
        if name not in self._members:
            self._members[name] = self._node(self._path / name, self._schema["properties"][name])
        return self._members[name]

    def _node(self, path: JsonPath, schema: dict[str, Any]) -> "_Node":
        if schema["type"] == "object":
            return _Object(self._bodies, self._resource, path, schema)
        if schema["type"] == "array":
            return _Array(self._node(path / ALL_ITEMS, schema["items"]))
        origin = self._bodies.origins.of(self._resource, path)
        paths = (*self._resource.descriptors, *self._resource.key_descriptors)
        target = next((descriptor.target for descriptor in paths if descriptor.path == path), None)
        if target is None:
            return _Scalar(origin, scalar(schema, origin.path))
        # The category of a school is the value "School".
        default = self._bodies.descriptor_value(target, _words(origin.resource.resource))
        return _Descriptor(origin, self._bodies, target, default.uri)


_Node = _Scalar | _Descriptor | _Array | _Object


def _value_at(body: Body, steps: tuple[str, ...]) -> Any:
    value: Any = body
    for step in steps:
        value = value[step]
    return value


def _words(name: str) -> str:
    """`LocalEducationAgency` → `Local Education Agency`."""
    return "".join(f" {letter}" if letter.isupper() else letter for letter in name).strip()
