"""Valid bodies made from a surface: complete bodies from sparse ones, and the examples of the OpenAPI documents.

A sparse body has the members that matter: `{"entryDate": "2025-08-18", "calendarReference": {}}`. Its empty object
stands for a reference whose values are those of the scope. Descriptors are written as code values. Members that the
resource does not have are left out, since standards differ. `Bodies` adds what the resource requires: values of
references by the members where they are defined (`Origins`), so that documents of one scope refer to each other, and
values of all other members by `scalar`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jsonschema_rs

from edfi_api.model.surface.bundled_descriptors import DescriptorValue, descriptor_namespace
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource, ResourceName, Surface

# The school year that a new database has as the current one.
SCHOOL_YEAR = 2026
_DATE = "2025-08-18"
_LATER_DATE = "2026-06-05"
_LATER = ("end", "exit", "expiration")
_TEXT = "Example"
# Far from the ids of real organizations.
_FIRST_ID = 1000
# Values by the name of the member, in whichever resource it is.
_BY_NAME: dict[str, Any] = {
    "birthDate": "2010-02-03",
    "city": "Lark Meadow",
    "contactUniqueId": "604823",
    "currentSchoolYear": True,
    "electronicMailAddress": "mae.ortiz@example.org",
    "firstName": "Mae",
    "fiscalYear": SCHOOL_YEAR,
    "lastSurname": "Ortiz",
    "nameOfInstitution": "Lark Meadow",
    "namespace": "uri://ed-fi.org/Example",
    "parentUniqueId": "604823",
    "postalCode": "78701",
    "schoolYear": SCHOOL_YEAR,
    "schoolYearDescription": f"{SCHOOL_YEAR - 1}-{SCHOOL_YEAR}",
    "staffUniqueId": "604824",
    "streetNumberName": "1 Meadow Road",
    "studentUniqueId": "604822",
    "telephoneNumber": "512-555-0100",
}
_ABSENT: Any = object()
# Standards mark what they keep for old data in the short description.
_DEPRECATED = "DEPRECATED"


def scalar(schema: dict[str, Any], path: JsonPath) -> Any:
    """A value that the schema of a scalar allows; the same for every member of the same name and schema."""
    name = path.steps[-1]
    for value in _known(name):
        # An extension may have a member of the same name and another type, such as a school year that is a text. The
        # digits of a decimal are not in the schema.
        if schema["type"] != "number" and jsonschema_rs.is_valid(schema, value, validate_formats=True):
            return value
    match schema["type"]:
        case "string":
            return _string(schema, name)
        case "integer":
            return max(1, schema.get("minimum", 1))
        case "number":
            return 0.5  # Also in range where a decimal has no digits before its point.
    return True


def _known(name: str) -> tuple[Any, ...]:
    return (_BY_NAME[name], str(_BY_NAME[name])) if name in _BY_NAME else ()


def numbered(schema: dict[str, Any], number: int) -> Any:
    """A value of its own for each number from 1 to 28; a date is one of February."""
    if schema["type"] == "integer":
        return _FIRST_ID + number
    return f"2026-02-{number:02}" if schema.get("format") == "date" else f"{_TEXT} {number}"


def _string(schema: dict[str, Any], name: str) -> str:
    match schema.get("format"):
        case "date":
            return _LATER_DATE if name.lower().startswith(_LATER) else _DATE
        case "date-time":
            return f"{_DATE}T08:00:00Z"
        case "time":
            return "08:00:00"
    return _TEXT.ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength")]


class MemberOrigin(NamedTuple):
    """A member of a resource or of an abstract resource."""

    resource: ResourceName
    path: JsonPath


class Origins:
    """The origins of one surface."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    def of(self, resource: Resource, path: JsonPath) -> MemberOrigin:
        """The origin of the value at this path, which is itself unless it is in a reference."""
        for reference in resource.references:
            for pair in reference.identity:
                if pair.here == path:
                    return self._in_target(reference.target, pair.there)
        return MemberOrigin(resource.name, path)

    def _in_target(self, target: ResourceName, path: JsonPath) -> MemberOrigin:
        if target in self._surface.by_name:
            return self.of(self._surface.by_name[target], path)
        representative = self.representatives[target]
        here = _path_in_subclass(representative, path)
        # A renamed member (schoolId for educationOrganizationId) is another one in each subclass.
        return self.of(representative, path) if here == path else MemberOrigin(target, path)

    @cached_property
    def representatives(self) -> dict[ResourceName, Resource]:
        """Map each abstract resource to the subclass to which most references lead."""
        referrers = Counter(
            reference.target for resource in self._surface.resources for reference in resource.references
        )
        return {
            abstract.name: self._surface.by_name[max(abstract.subclasses, key=lambda name: referrers[name])]
            for abstract in self._surface.abstract_resources
            if abstract.subclasses
        }

    def of_identity(self, resource: Resource) -> list[tuple[MemberOrigin, JsonPath]]:
        """The origins that a document of the resource defines for those that refer to it, with the paths of the values
        in it; among them the renamed members of its superclass."""
        found = [(self.of(resource, path), path) for path in resource.identity]
        if resource.superclass is not None:
            renamed = (pair for pair in resource.superclass.identity if pair.here != pair.there)
            found += [(MemberOrigin(resource.superclass.name, pair.there), pair.here) for pair in renamed]
        return found


def _path_in_subclass(subclass: Resource, path: JsonPath) -> JsonPath:
    pairs = subclass.superclass.identity if subclass.superclass else ()
    return next((pair.here for pair in pairs if pair.there == path), path)


Body = dict[str, Any]
Sparse = Mapping[str, Any]
# The values of the documents that others refer to.
Scope = Mapping[MemberOrigin, Any]


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
        """Return what the scope of a document adds for those that refer to it."""
        if resource.name not in self._keys:
            origins = self.origins.of_identity(resource)
            self._keys[resource.name] = [(origin, path.steps) for origin, path in origins]
        return {origin: _value_at(body, steps) for origin, steps in self._keys[resource.name]}

    def has_values(self, descriptor: ResourceName) -> bool:
        """Return whether values of this descriptor are bundled with the standard."""
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
        """Return the required members, of a reference all: it has the whole key of its target, or does not resolve."""
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


class Examples:
    """The examples of one surface: what is required, nothing else."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._scope = _superclass_keys(bodies)

    def of(self, resource: Resource) -> Body:
        """The body of a POST. Of a descriptor it is a value that exists, if the standard comes with values."""
        if resource.is_descriptor:
            return self._bodies.descriptor_value(resource.name).body
        return self._bodies.complete(resource, {}, self._scope)

    def targets(self) -> Iterator[tuple[Resource, Body]]:
        """The examples that others refer to, in load order, except descriptors for which values are bundled."""
        surface = self._bodies.surface
        targets = {reference.target for resource in surface.resources for reference in resource.references}
        targets |= {descriptor.target for resource in surface.resources for descriptor in resource.descriptors}
        referenced = {self._concrete(target) for target in targets}
        for resource in surface.resources:
            if resource.name in referenced and not self._bodies.has_values(resource.name):
                yield resource, self.of(resource)

    def _concrete(self, target: ResourceName) -> ResourceName:
        representative = self._bodies.origins.representatives.get(target)
        return representative.name if representative else target


def _superclass_keys(bodies: Bodies) -> Scope:
    """Different values for the subclasses of one superclass, which share its identity: of an organization its id
    (schoolId), of another subclass its own members of the identity. A renamed member of the representative stands for
    the one of the superclass, too."""
    found: dict[MemberOrigin, Any] = {}
    for abstract in bodies.surface.abstract_resources:
        representative = bodies.origins.representatives[abstract.name]
        for number, name in enumerate(abstract.subclasses, start=1):
            resource = bodies.surface.by_name[name]
            for here, there in _own_members(bodies, resource):
                value = numbered(resource.json_schema["properties"][here.steps[0]], number)
                found[MemberOrigin(name, here)] = value
                if resource is representative and here != there:
                    found[MemberOrigin(abstract.name, there)] = value
    return found


def _own_members(bodies: Bodies, subclass: Resource) -> Iterator[tuple[JsonPath, JsonPath]]:
    """Yield the members of the identity that a subclass has as its superclass; neither references nor descriptors."""
    descriptors = {descriptor.path for descriptor in subclass.descriptors}
    for pair in subclass.superclass.identity if subclass.superclass else ():
        is_own = bodies.origins.of(subclass, pair.here) == MemberOrigin(subclass.name, pair.here)
        if is_own and pair.here not in descriptors:
            yield pair.here, pair.there
