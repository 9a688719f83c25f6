"""A rule: its metadata, and the query or the function that finds its violations."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from logging import Logger
from pathlib import Path
from typing import Any, Protocol

from edfi_api.model.surface.resource import Surface


class Severity(StrEnum):
    """The severity of a violation, as rules declare it."""

    WARNING = "warning"
    MINOR = "minor"
    MAJOR = "major"


class Scope(StrEnum):
    """The kind of value by which a rule can be run for a part of the offending documents."""

    STUDENT = "student"
    STAFF = "staff"
    CONTACT = "contact"
    ORGANIZATION = "organization"
    DOCUMENT = "document"


# Types of parameters, in PostgreSQL.
PARAMETER_TYPES = {
    "text": "text",
    "integer": "bigint",
    "number": "numeric",
    "boolean": "boolean",
    "date": "date",
    "texts": "text[]",
}
SCOPE_TYPES = dict.fromkeys(Scope, "text[]") | {Scope.ORGANIZATION: "bigint[]", Scope.DOCUMENT: "uuid[]"}
# Parameters that every rule has: the day of the run, and the current school year, NULL if none is.
TODAY, SCHOOL_YEAR, SCOPE = "today", "school_year", "scope"
FIXED_TYPES = {TODAY: "date", SCHOOL_YEAR: "integer"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a rule; `type` is one of PARAMETER_TYPES."""

    type: str
    default: Any


@dataclass(frozen=True, slots=True)
class Incremental:
    """The part of a rule that can be run for some values of `scope`: those that changes of watched resources concern,
    such as `ed-fi/students`.
    """

    scope: Scope
    watch: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleViolation:
    """A violation, as a rule finds it.

    The offending document is given by row id or UUID, if there is one. What is absent of `education_organization_id`,
    the persons and the namespace is taken from it. `key` distinguishes several violations of one document. Only clients
    that may read all of `other_document_ids` see the result: it has to contain every document, besides the offending
    one, about which the violation says something.
    """

    document_id: int | None = None
    document_uuid: Any = None
    education_organization_id: int | None = None
    student_unique_id: str | None = None
    staff_unique_id: str | None = None
    contact_unique_id: str | None = None
    namespace: str | None = None
    key: str | None = None
    message: str | None = None
    context: Mapping[str, Any] | None = None
    other_document_ids: Iterable[int] | None = None


class RuleContext(Protocol):
    """The context that a rule in Python gets."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The value of each parameter."""

    @property
    def scope(self) -> list[Any] | None:
        """The values to which the violations have to belong; None for all violations."""

    @property
    def surface(self) -> Surface:
        """The served resources."""

    @property
    def log(self) -> Logger:
        """A log of the rule's own."""

    def rows(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, read as they are needed, all of the same snapshot; parameters are written `%(name)s`."""


Find = Callable[[RuleContext], Iterable[RuleViolation]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a file. `text` is the query, or the source of the module with the function `find`. The defaults of its
    members are in `metadata`."""

    identifier: str
    source: str
    version: str
    short: str
    severity: Severity
    category: str
    resource: str
    path: Path
    line: int
    text: str
    find: Find | None
    description: str
    help_url: str
    external_id: str
    standards: tuple[str, ...]
    over: str
    active: bool
    parameters: Mapping[str, Parameter]
    incremental: Incremental | None
    row_limit: int
    seconds: int
    publish_logic: bool

    @property
    def name(self) -> str:
        return f"{self.source}/{self.identifier}"

    @property
    def language(self) -> str:
        return "Python" if self.find else "SQL"

    @property
    def digest(self) -> str:
        return hashlib.sha256(f"{self.resource}\n{self.over}\n{self.incremental}\n{self.text}".encode()).hexdigest()

    @property
    def types(self) -> dict[str, str]:
        """The type of each parameter in PostgreSQL."""
        own = {name: each.type for name, each in self.parameters.items()}
        types = {name: PARAMETER_TYPES[type_] for name, type_ in {**own, **FIXED_TYPES}.items()}
        return types | ({SCOPE: SCOPE_TYPES[self.incremental.scope]} if self.incremental else {})


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something wrong with a rule, and where."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"
