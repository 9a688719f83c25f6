"""The required members of the current format (version 1), as msgspec structs: names, types, defaults.

All other members are ignored. Objects with arbitrary member names stay undecoded (`Any`) and are read member by member,
so that an error can name the member: a `Node` is a value with its place in a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct, field

from edfi_api.common.shape_errors import reason_and_path

T = TypeVar("T")

_PLAIN_NAME = re.compile(r"[\w$-]+")


class ApiSchemaError(Exception):
    """The text is one readable paragraph with the file and the JSON path in it."""

    def __init__(self, file: Path, path: str, message: str) -> None:
        super().__init__(f"{file}: {path}: {message}")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its JSON path."""

    file: Path
    path: str
    value: Any

    def read(self, shape: type[T]) -> T:
        """The value converted to this type; unknown members are ignored. Raises ApiSchemaError."""
        try:
            return msgspec.convert(self.value, shape)
        except msgspec.ValidationError as error:
            reason, path = reason_and_path(error)
            raise ApiSchemaError(self.file, self.path + path.removeprefix("$"), reason) from None

    def members(self) -> Iterator[Node]:
        """The members of an object, one node each."""
        return (self / name for name in self.read(dict[str, Any]))

    def items(self) -> Iterator[Node]:
        """The items of an array, one node each."""
        return (Node(self.file, f"{self.path}[{i}]", item) for i, item in enumerate(self.read(list[Any])))

    def __truediv__(self, name: str) -> Node:
        """The node of an existing member."""
        step = f".{name}" if _PLAIN_NAME.fullmatch(name) else f"[{json.dumps(name)}]"
        return Node(self.file, self.path + step, self.value[name])

    def warning(self, message: str) -> str:
        """A readable line about this value."""
        return f"{self.file}: {self.path}: warning: {message}"

    def refusal(self, message: str) -> ApiSchemaError:
        """The exception to raise about this value."""
        return ApiSchemaError(self.file, self.path, message)


def read_file(file: Path) -> Node:
    """The whole content of a file."""
    try:
        return Node(file, "$", msgspec.json.decode(file.read_bytes()))
    except OSError as error:
        raise ApiSchemaError(file, "$", f"cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ApiSchemaError(file, "$", f"not JSON: {error}") from None
    except RecursionError:
        raise ApiSchemaError(file, "$", "nested too deep") from None


MAJOR_VERSION = "1"
VERSION = "1.0.0"

# Members of bodies, including an extension's `_ext`. Their names are used unquoted in SQL and in natural keys.
MEMBER_NAME = r"[A-Za-z_][A-Za-z0-9_ -]*"
PathText = Annotated[str, Meta(pattern=rf"^\$(\.{MEMBER_NAME}(\[\*\])?)*\Z")]
# Names become classes, URL segments and headers.
PlainName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_]*\Z")]
UrlSegment = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_-]*\Z")]
ProjectName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_. -]*\Z")]
HeaderText = Annotated[str, Meta(pattern=r"^[ -~]+\Z")]


class File(Struct, rename="camel"):
    """The top level."""

    project_schema: Any
    api_schema_version: str = VERSION


class AbstractEntry(Struct, rename="camel"):
    """A reference target without an endpoint. Early files call its identity `identityPathOrder`."""

    identity_json_paths: list[PathText] | None = None
    identity_path_order: list[PathText] | None = None


class ProjectSchema(Struct, rename="camel"):
    """`projectSchema`."""

    project_name: ProjectName
    project_version: HeaderText
    project_endpoint_name: UrlSegment
    resource_schemas: dict[UrlSegment, Any]
    description: str = ""
    is_extension_project: bool = False
    domains: list[str] = []
    abstract_resources: dict[PlainName, Any] = {}
    education_organization_types: list[str] = []
    education_organization_hierarchy: dict[str, dict[str, PathText]] = {}


class PathPair(Struct, rename="camel"):
    """One value of a reference: its path in the reference object, and its path in the target document."""

    reference_json_path: PathText
    identity_json_path: PathText


class PathEntry(Struct, rename="camel"):
    """An entry of `documentPathsMapping`; its required members depend on its kind."""

    is_reference: bool
    is_descriptor: bool = False
    path: PathText | None = None
    project_name: ProjectName = "Ed-Fi"
    resource_name: PlainName | None = None
    reference_json_paths: list[PathPair] = []
    is_part_of_identity: bool = False

    @property
    def paths(self) -> list[str]:
        """The path of the value, or those of a reference's values."""
        return (
            [self.path] if self.path is not None else [pair.reference_json_path for pair in self.reference_json_paths]
        )


class EqualityEntry(Struct, rename="camel"):
    """Two paths whose values have to be equal."""

    source_json_path: PathText
    target_json_path: PathText


class UniquenessEntry(Struct, rename="camel"):
    """The keys of the items of an array, and in `nested_constraints` those of arrays inside the items."""

    paths: list[PathText] = []
    base_path: PathText = "$"
    nested_constraints: list[UniquenessEntry] = []


class DecimalEntry(Struct, rename="camel"):
    """The precision and scale of a decimal."""

    path: PathText
    total_digits: Annotated[int, Meta(ge=1, le=100)] | None = None
    decimal_places: Annotated[int, Meta(ge=0, le=100)] = 0


class OrganizationEntry(Struct, rename="camel"):
    """A securable education organization id."""

    meta_ed_name: str
    json_path: PathText


class SecurableEntry(Struct, rename="pascal", frozen=True):
    """The paths of the securable elements."""

    namespace: list[PathText] = []
    education_organization: list[OrganizationEntry] = []
    student: list[PathText] = []
    contact: list[PathText] = []
    staff: list[PathText] = []


class QueryEntry(Struct, rename="camel"):
    """One path that a query parameter is compared with."""

    path: PathText
    type: str = "string"


class SchemaOfAdditions(Struct):
    """The root of the schema of additions, which is not the schema of a body."""

    properties: dict[str, Any] = {}
    required: list[str] = []


class OverrideEntry(Struct, rename="camel"):
    """An `_ext` for the objects of a common, to insert into the core schema at these places."""

    insertion_locations: list[PathText]
    schema_fragment: Any


class Component(Struct):
    """An OpenAPI schema, read only for the deprecation flag, which is nowhere else in the file."""

    is_deprecated: Any = field(name="x-Ed-Fi-isDeprecated", default=False)
    reasons: Any = field(name="x-Ed-Fi-deprecatedReasons", default="")


class Components(Struct, frozen=True):
    """The schemas of a fragment by name: `EdFi_LearningObjective`."""

    schemas: dict[str, Component] = {}


class OpenApiFragment(Struct):
    """The OpenAPI part of a resource."""

    components: Components = Components()


class ResourceEntry(Struct, rename="camel"):
    """A member of `resourceSchemas`: a resource, or additions to one of the core."""

    resource_name: PlainName
    json_schema_for_insert: Any
    is_descriptor: bool = False
    is_school_year_enumeration: bool = False
    is_resource_extension: bool = False
    is_subclass: bool = False
    superclass_project_name: ProjectName = "Ed-Fi"
    superclass_resource_name: PlainName | None = None
    superclass_identity_json_path: PathText | None = None
    allow_identity_updates: bool = False
    domains: list[str] = []
    identity_json_paths: list[PathText] = []
    document_paths_mapping: dict[str, Any] = {}
    equality_constraints: list[EqualityEntry] = []
    array_uniqueness_constraints: list[UniquenessEntry] = []
    decimal_property_validation_infos: list[DecimalEntry] = []
    securable_elements: SecurableEntry = SecurableEntry()
    authorization_pathways: list[str] = []
    query_field_mapping: dict[str, list[QueryEntry]] = {}
    common_extension_overrides: list[Any] = []
    open_api_fragments: dict[str, OpenApiFragment] = {}
