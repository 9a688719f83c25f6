"""The surface: what the API offers for a model, as frozen values. The vocabulary of everything below.

A surface holds plain data only (no functions, no pointers between resources), so it can be cached on disk,
compared with a published one, and shared by forked workers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

ALL_ITEMS = "[*]"


@dataclass(frozen=True, order=True)
class JsonPath:
    """A path into a body, as steps: `("classPeriods", "[*]", "classPeriodReference", "schoolId")`.

    Steps are plain names, as those who read models see to: they stand in SQL and in natural keys as they are.
    """

    steps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> JsonPath:
        """Read `$.classPeriods[*].classPeriodReference`; ValueError if it does not begin with `$`."""
        if not text.startswith("$"):
            raise ValueError(f"not a JSON path: {text!r}")
        steps = text[1:].replace(ALL_ITEMS, "." + ALL_ITEMS).split(".")
        return cls(tuple(step for step in steps if step))

    def __str__(self) -> str:
        return "$" + "".join(step if step == ALL_ITEMS else f".{step}" for step in self.steps)

    def __truediv__(self, step: str) -> JsonPath:
        return JsonPath((*self.steps, step))

    def without_root(self) -> str:
        """The form that natural keys use: `courseReference.courseCode`."""
        return str(self)[2:]


class ResourceKind(StrEnum):
    """What decides a resource's life: descriptors and school years have rules of their own."""

    ENTITY = "entity"
    DESCRIPTOR = "descriptor"
    SCHOOL_YEAR = "school year"


@dataclass(frozen=True, slots=True, order=True)
class ResourceName:
    """A resource, or an abstract one, across projects: `Ed-Fi`, `School`."""

    project: str
    resource: str


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Where one identity value stands here, and where it stands in the document (or superclass) meant.

    For a reference, `here` is `$.courseOfferingReference.schoolId` and `there` `$.schoolReference.schoolId`;
    one `here` may serve several `there`.
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
    """A place in the body that holds a reference object; `path` ends at the object itself.

    `is_required` means that a document cannot be without it; `is_identity` that it is part of the identity.
    """

    path: JsonPath
    target: ResourceName
    identity: tuple[KeyPair, ...]
    is_required: bool
    is_identity: bool


@dataclass(frozen=True, slots=True)
class DescriptorPath:
    """A place in the body that holds a descriptor's URI, `namespace#codeValue`."""

    path: JsonPath
    target: ResourceName
    is_required: bool
    is_identity: bool


@dataclass(frozen=True, slots=True)
class EqualityConstraint:
    """All values at both paths must be equal; missing ones do not count."""

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
    """How the text of a query parameter is read before it is compared."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATE_TIME = "date-time"
    TIME = "time"
    DESCRIPTOR = "descriptor"


@dataclass(frozen=True, slots=True)
class QueryField:
    """A query parameter and the places it is compared with; any one of them may match."""

    name: str
    type: QueryType
    paths: tuple[JsonPath, ...]


@dataclass(frozen=True, slots=True)
class DecimalLimit:
    """How many digits a decimal may have; `$.x` with 5 and 2 lies between -999.99 and 999.99."""

    path: JsonPath
    total_digits: int
    decimal_places: int


@dataclass(frozen=True, slots=True)
class ValuePaths:
    """Where values stand that clients may write in more than one way, as `"1"` for `1`, in references too."""

    booleans: tuple[JsonPath, ...] = ()
    numbers: tuple[JsonPath, ...] = ()
    dates: tuple[JsonPath, ...] = ()
    date_times: tuple[JsonPath, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedPath:
    """A securable education organization id with the model name that refusals show."""

    name: str
    path: JsonPath


@dataclass(frozen=True, slots=True)
class SecurableElements:
    """Where the values stand that authorization strategies look at."""

    namespace: tuple[JsonPath, ...] = ()
    education_organization: tuple[NamedPath, ...] = ()
    student: tuple[JsonPath, ...] = ()
    contact: tuple[JsonPath, ...] = ()
    staff: tuple[JsonPath, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnOrganization:
    """Where a document that is an education organization has its id, and those of the organizations above it."""

    id: JsonPath
    parents: tuple[JsonPath, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One endpoint: everything that handling its documents needs to know.

    `common_identity` are the members (values and reference objects) that are identity in the common around them, and
    so no part of the document's own.
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
    decimals: tuple[DecimalLimit, ...] = ()
    value_paths: ValuePaths = field(default_factory=ValuePaths)
    securable_elements: SecurableElements = field(default_factory=SecurableElements)
    authorization_pathways: tuple[str, ...] = ()
    organization: OwnOrganization | None = None
    domains: tuple[str, ...] = ()
    documentation: str = ""
    deprecated: str | None = None

    @property
    def is_descriptor(self) -> bool:
        return self.kind is ResourceKind.DESCRIPTOR

    @cached_property
    def url_path(self) -> str:
        """`/ed-fi/students`: the canonical spelling in `Location` headers and links."""
        return f"/{self.project_endpoint}/{self.endpoint}"

    @cached_property
    def key_fields(self) -> tuple[tuple[QueryField, JsonPath], ...]:
        """The query fields that are parts of the identity, each with one of its places in it; unified values are one.

        These are the key values that change queries tell.
        """
        places = ((field, [path for path in field.paths if path in self.identity]) for field in self.query_fields)
        return tuple((field, paths[0]) for field, paths in places if paths)


@dataclass(frozen=True, slots=True)
class AbstractResource:
    """A legal reference target without an endpoint: EducationOrganization."""

    name: ResourceName
    identity: tuple[JsonPath, ...]
    subclasses: tuple[ResourceName, ...]


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """What the API says about one project in discovery and in its response headers."""

    name: str
    endpoint: str
    version: str
    package_name: str
    description: str = ""
    is_extension: bool = False
    domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParentOrganization:
    """Where the documents of an organization type name the organization above them: a School its district."""

    type: ResourceName
    parent: ResourceName
    path: JsonPath


@dataclass(frozen=True, slots=True)
class OrganizationHierarchy:
    """The types of education organizations, the abstract one last, and how they hang together."""

    types: tuple[ResourceName, ...] = ()
    parents: tuple[ParentOrganization, ...] = ()


class InterchangeKind(StrEnum):
    """What stands inside an element of interchange XML, and so how it is read."""

    VALUE = "value"
    SCHOOL_YEAR = "school year"
    OBJECT = "object"
    REFERENCE = "reference"
    INLINE = "inline"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class InterchangeElement:
    """An element of interchange XML and the place of its content in the JSON object of the element around it.

    `GradeLevel` of a school has the path `$.gradeLevels[*].gradeLevelDescriptor`; an inline common, whose values are
    members of the same object, `$`; what is left out has no place. `target` and `identity` are those of a reference,
    `here` being relative to the reference object.
    """

    name: str
    path: JsonPath
    kind: InterchangeKind
    elements: tuple[InterchangeElement, ...] = ()
    target: ResourceName | None = None
    identity: tuple[KeyPair, ...] = ()


@dataclass(frozen=True, slots=True)
class InterchangeEntity:
    """A resource, or an abstract one, as interchange XML writes it: under its name, with these elements inside."""

    name: ResourceName
    elements: tuple[InterchangeElement, ...]


@dataclass(frozen=True)
class Surface:
    """All resources of all projects, in load order within each list: targets stand before referrers."""

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
        """Keyed by lower-cased project segment and endpoint: paths are matched without regard to case."""
        return {(r.project_endpoint.lower(), r.endpoint.lower()): r for r in self.resources}

    @cached_property
    def core_project(self) -> ProjectFacts:
        return next(project for project in self.projects if not project.is_extension)
