"""The surface: the API of a model as frozen values, used by all packages that handle documents.

A surface has plain data only (no functions, no pointers between resources), so it can be cached on disk, compared with
a published one, and shared by forked workers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

ALL_ITEMS = "[*]"


@dataclass(frozen=True, order=True)
class JsonPath:
    """A path into a body, as steps: `("classPeriods", "[*]", "classPeriodReference", "schoolId")`.

    Steps are plain names, which the readers of models enforce: they are used unquoted in SQL and in natural keys.
    """

    steps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> JsonPath:
        """Read `$.classPeriods[*].classPeriodReference`; ValueError if it does not begin with `$`."""
        if not text.startswith("$"):
            raise ValueError(f"not a JSON path: {text!r}")
        steps = text[1:].replace(ALL_ITEMS, "." + ALL_ITEMS).split(".")
        return cls(tuple(step for step in steps if step))

    @classmethod
    def below_root(cls, text: str) -> JsonPath:
        """Read the form that files for people have: `courseReference.courseCode`."""
        return cls.parse(f"$.{text.strip()}")

    def __str__(self) -> str:
        return "$" + "".join(step if step == ALL_ITEMS else f".{step}" for step in self.steps)

    def __truediv__(self, step: str) -> JsonPath:
        return JsonPath((*self.steps, step))

    def without_root(self) -> str:
        """The form that natural keys use: `courseReference.courseCode`."""
        return str(self)[2:]


class ResourceKind(StrEnum):
    """The kind of a resource: descriptors and school years have rules of their own."""

    ENTITY = "entity"
    DESCRIPTOR = "descriptor"
    SCHOOL_YEAR = "school year"


class ResourceName(NamedTuple):
    """The unique name of a resource or abstract resource: `Ed-Fi`, `School`."""

    project: str
    resource: str


@dataclass(frozen=True, slots=True)
class KeyPair:
    """The path of one identity value in this document, and its path in the target document (or superclass).

    For a reference, `here` is `$.courseOfferingReference.schoolId` and `there` `$.schoolReference.schoolId`;
    several `there` can have the same `here`.
    """

    here: JsonPath
    there: JsonPath


@dataclass(frozen=True, slots=True)
class Superclass:
    """The second identity of a subclass document: a School is also an EducationOrganization."""

    name: ResourceName
    identity: tuple[KeyPair, ...]


@dataclass(frozen=True, slots=True)
class ReferencePath:
    """A reference object in the body; `path` is that of the object itself.

    `is_required` means that every document has it; `is_identity` that it is part of the identity.
    """

    path: JsonPath
    target: ResourceName
    identity: tuple[KeyPair, ...]
    is_required: bool
    is_identity: bool


@dataclass(frozen=True, slots=True)
class DescriptorPath:
    """A path in the body of a descriptor's URI, `namespace#codeValue`."""

    path: JsonPath
    target: ResourceName
    is_required: bool
    is_identity: bool


@dataclass(frozen=True, slots=True)
class EqualityConstraint:
    """All values at both paths must be equal; missing ones are ignored."""

    source: JsonPath
    target: JsonPath


@dataclass(frozen=True, slots=True)
class ArrayUniqueness:
    """The items of `array` must differ in the values at `item_paths` (relative to the item).

    A nested array (`$.addresses[*].periods`) is unique within its own parent item only.
    """

    array: JsonPath
    item_paths: tuple[JsonPath, ...]


class QueryType(StrEnum):
    """The type as which the text of a query parameter is parsed for comparison."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATE_TIME = "date-time"
    TIME = "time"
    DESCRIPTOR = "descriptor"


@dataclass(frozen=True, slots=True)
class QueryField:
    """A query parameter and the paths with which it is compared; a match at any of them suffices."""

    name: str
    type: QueryType
    paths: tuple[JsonPath, ...]


@dataclass(frozen=True, slots=True, order=True)
class OtherName:
    """A member of the body by its path, and another name that it has outside."""

    path: JsonPath
    name: str


@dataclass(frozen=True, slots=True)
class DecimalLimit:
    """Precision and scale of a decimal; `$.x` with 5 and 2 is between -999.99 and 999.99. `least` and `most` are the
    bounds of the model, which ApiSchema files do not have."""

    path: JsonPath
    total_digits: int
    decimal_places: int
    least: Decimal | None = field(default=None, compare=False)
    most: Decimal | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ValuePaths:
    """The paths, also in references, of values that clients can write in more than one form, such as `"1"` for `1`."""

    booleans: tuple[JsonPath, ...] = ()
    numbers: tuple[JsonPath, ...] = ()
    dates: tuple[JsonPath, ...] = ()
    date_times: tuple[JsonPath, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedPath:
    """A securable education organization id with the model name for error messages."""

    name: str
    path: JsonPath


@dataclass(frozen=True, slots=True)
class SecurableElements:
    """The paths of the values that authorization strategies use."""

    namespace: tuple[JsonPath, ...] = ()
    education_organization: tuple[NamedPath, ...] = ()
    student: tuple[JsonPath, ...] = ()
    contact: tuple[JsonPath, ...] = ()
    staff: tuple[JsonPath, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnOrganization:
    """The paths, in a document that is an education organization, of its id and of the ids of its parents."""

    id: JsonPath
    parents: tuple[JsonPath, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One endpoint, with all facts that the handling of its documents needs.

    `common_identity` are the members (values and reference objects) that are identity in their enclosing common, and
    not part of the document's own. `code_fields` are query fields that only the ODS/API has: members of the items of
    one collection each. `ods_names` are the members that have other names in the ODS/API, `ods_endpoint` is that of the
    endpoint, empty if it is the same; `served_names` and `served_endpoint` are those that they have for clients, too.
    `is_read_only` is for resources that views of their own serve, in place of stored documents.
    """

    name: ResourceName
    project_endpoint: str
    endpoint: str
    kind: ResourceKind
    json_schema: dict[str, Any]
    identity: tuple[JsonPath, ...]
    superclass: Superclass | None = None
    allows_identity_updates: bool = False
    references: tuple[ReferencePath, ...] = ()
    descriptors: tuple[DescriptorPath, ...] = ()
    key_descriptors: tuple[DescriptorPath, ...] = ()
    equality_constraints: tuple[EqualityConstraint, ...] = ()
    array_uniqueness: tuple[ArrayUniqueness, ...] = ()
    common_identity: tuple[JsonPath, ...] = ()
    query_fields: tuple[QueryField, ...] = ()
    code_fields: tuple[QueryField, ...] = ()
    decimals: tuple[DecimalLimit, ...] = ()
    value_paths: ValuePaths = field(default_factory=ValuePaths)
    securable_elements: SecurableElements = field(default_factory=SecurableElements)
    authorization_pathways: tuple[str, ...] = ()
    ods_names: tuple[OtherName, ...] = field(default=(), compare=False)
    ods_endpoint: str = field(default="", compare=False)
    served_names: tuple[OtherName, ...] = ()
    served_endpoint: str = ""
    organization: OwnOrganization | None = None
    domains: tuple[str, ...] = ()
    documentation: str = ""
    deprecated: str | None = None
    is_read_only: bool = False

    @cached_property
    def is_descriptor(self) -> bool:
        return self.kind is ResourceKind.DESCRIPTOR

    @cached_property
    def url_path(self) -> str:
        """`/ed-fi/students`: the path that is kept, whatever clients call the endpoint."""
        return f"/{self.project_endpoint}/{self.endpoint}"

    @cached_property
    def served_path(self) -> str:
        """The path in `Location` headers, links and OpenAPI documents."""
        return f"/{self.project_endpoint}/{self.served_endpoint or self.endpoint}"

    @cached_property
    def key_fields(self) -> tuple[tuple[QueryField, JsonPath], ...]:
        """The query fields that are parts of the identity, each with one of its paths in it; unified values are one.

        These are the key values that change queries return.
        """
        places = ((field, [path for path in field.paths if path in self.identity]) for field in self.query_fields)
        return tuple((field, paths[0]) for field, paths in places if paths)

    @cached_property
    def key_places(self) -> tuple[tuple[QueryField, tuple[JsonPath, ...]], ...]:
        """The query fields of `key_fields`, each with all paths of the identity that have its value: its own, and those
        of other names whose values must be equal to it, because they are one value in two references."""
        named = {path for query_field, _ in self.key_fields for path in query_field.paths}
        left = [path for path in self.identity if path not in named]
        places = []
        for query_field, _ in self.key_fields:
            own = [path for path in query_field.paths if path in self.identity]
            merged = self._equal_to(own)
            places.append((query_field, (*own, *(path for path in left if path in merged))))
        return tuple(places)

    def _equal_to(self, paths: Iterable[JsonPath]) -> set[JsonPath]:
        """Return these paths with all to which equality constraints lead."""
        found, frontier = set(paths), list(paths)
        while frontier:
            path = frontier.pop()
            for each in self.equality_constraints:
                if path in (each.source, each.target):
                    more = {each.source, each.target} - found
                    found |= more
                    frontier += more
        return found


@dataclass(frozen=True, slots=True)
class AbstractResource:
    """A reference target without an endpoint: EducationOrganization."""

    name: ResourceName
    identity: tuple[JsonPath, ...]
    subclasses: tuple[ResourceName, ...]


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """The facts about one project for the discovery API and response headers."""

    name: str
    endpoint: str
    version: str
    package_name: str
    description: str = ""
    is_extension: bool = False
    domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParentOrganization:
    """The reference of an organization type to its parent: of a School to its district."""

    type: ResourceName
    parent: ResourceName
    path: JsonPath


@dataclass(frozen=True, slots=True)
class OrganizationHierarchy:
    """The types of education organizations, the abstract one last, and the references to their parents."""

    types: tuple[ResourceName, ...] = ()
    parents: tuple[ParentOrganization, ...] = ()


class InterchangeKind(StrEnum):
    """The kind of content of an interchange XML element, which determines how it is read."""

    VALUE = "value"
    SCHOOL_YEAR = "school year"
    OBJECT = "object"
    REFERENCE = "reference"
    INLINE = "inline"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class InterchangeElement:
    """An element of interchange XML and the path of its content in the JSON object of the enclosing element.

    `GradeLevel` of a school has the path `$.gradeLevels[*].gradeLevelDescriptor`; an inline common, whose values are
    members of the same object, `$`; the path of omitted content is not used. `target` and `identity` are those of a
    reference, with `here` relative to the reference object.
    """

    name: str
    path: JsonPath
    kind: InterchangeKind
    elements: tuple[InterchangeElement, ...] = ()
    target: ResourceName | None = None
    identity: tuple[KeyPair, ...] = ()


@dataclass(frozen=True, slots=True)
class InterchangeEntity:
    """A resource or abstract resource in interchange XML: an element of its name, with these child elements."""

    name: ResourceName
    elements: tuple[InterchangeElement, ...]


@dataclass(frozen=True)
class Surface:
    """All resources of all projects, in load order within each list: targets before their referrers."""

    projects: tuple[ProjectFacts, ...]
    resources: tuple[Resource, ...]
    abstract_resources: tuple[AbstractResource, ...]
    organizations: OrganizationHierarchy = field(default_factory=OrganizationHierarchy)
    interchange: tuple[InterchangeEntity, ...] = ()

    @cached_property
    def by_name(self) -> dict[ResourceName, Resource]:
        return {resource.name: resource for resource in self.resources}

    @cached_property
    def by_endpoint(self) -> dict[tuple[str, str], Resource]:
        """Keyed by lower-cased project segment and endpoint: paths are matched case-insensitively. A resource that
        clients know by another endpoint has both."""
        own = {(r.project_endpoint.lower(), r.endpoint.lower()): r for r in self.resources}
        other = {(r.project_endpoint.lower(), r.served_endpoint.lower()): r for r in self.resources}
        return {key: resource for key, resource in other.items() if key[1]} | own

    def resource_at(self, path: str) -> Resource | None:
        """The resource with this path, `ed-fi/students`, in any case; the inverse of `Resource.url_path`."""
        project, _, endpoint = path.strip("/").lower().partition("/")
        return self.by_endpoint.get((project, endpoint))

    @cached_property
    def standards(self) -> frozenset[str]:
        """The names of the data standard in rules: its version, and the end of its package's name, such as `5.2`."""
        core = self.core_project
        return frozenset({core.version, core.package_name.rpartition("-")[2]})

    @cached_property
    def core_project(self) -> ProjectFacts:
        return next(project for project in self.projects if not project.is_extension)
