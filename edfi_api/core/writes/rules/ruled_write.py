"""A rule of writes: what it is given, and what it finds."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from edfi_api.core.documents.exceptions import DataValidationFailed


@dataclass
class RefusedByRules(DataValidationFailed):
    """Rules refuse the document; `rules` has their names."""

    rules: tuple[str, ...] = field(default=())


@dataclass
class BudgetExceeded(Exception):
    """A rule takes more than it may; `what` is "look-ups" or "time"."""

    what: str


class InvalidRules(Exception):
    """All problems of the configured rules, as texts with their places."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


Body = Mapping[str, Any]

MARK = "write_rules"


class FindingSeverity(StrEnum):
    """What a finding leads to: the write is refused, or accepted with a warning."""

    REFUSE = "refuse"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule finds in a document: the path, `$.entryDate`, and a text for the client. The server sets `rule`."""

    path: str
    text: str
    severity: FindingSeverity = FindingSeverity.REFUSE
    rule: str = ""


class WritingClient(NamedTuple):
    """What rules see of the client: the key of the API client that writes, and its education organizations."""

    key: str | None = None
    organizations: tuple[int, ...] = ()


NOBODY = WritingClient()


class OtherDocuments(Protocol):
    """Reads other documents of the same database, in the transaction of the write. Each call is a look-up.

    Documents are as they are stored, with their `id`. A look-up takes no lock: what it has read may change before the
    write is committed. Raises BudgetExceeded.
    """

    def by_key(self, resource: str, key: Body) -> dict[str, Any] | None:
        """The document of a resource with this natural key, in the form of its body:
        `{"schoolReference": {"schoolId": 1}, "weekIdentifier": "1"}`; None if there is none."""

    def referenced(self, path: str) -> list[dict[str, Any]]:
        """The documents to which the references of the written document at this path refer, `$.schoolReference`;
        without those that do not exist."""

    def where(self, resource: str, filters: Mapping[str, Any], most: int = 25) -> list[dict[str, Any]]:
        """The documents of a resource that match filters, as a GET of the collection has them:
        `{"schoolId": 1, "entryDate[gte]": "2026-08-01"}`; at most 500."""


@dataclass(frozen=True, slots=True)
class RuledWrite:
    """A document that a client wants to write. Rules do not change it.

    `document` is the body as it is stored if it is accepted, `stored` the body that it replaces, None for a new
    document. `resource` is the path, `ed-fi/students`; `client` the key of the API client, and `organizations` its
    education organizations: None and none for loads, and for documents that are stored already.
    """

    resource: str
    document: dict[str, Any]
    stored: dict[str, Any] | None
    documents: OtherDocuments
    client: str | None = None
    organizations: tuple[int, ...] = ()


Find = Callable[[RuledWrite], Iterable[Finding] | None]


@dataclass(frozen=True, slots=True)
class WriteRule:
    """A rule for documents of `resources`, as it names them, of all if it names none.

    With `reads_document_only` it looks neither at the stored document nor at others, so that documents can be checked
    before anything is read, and in sets. `source` is the file and the line, `text` says what is wrong; `declared` has
    the conditions of a rule of TOML.
    """

    name: str
    resources: tuple[str, ...]
    find: Find
    reads_document_only: bool = False
    source: str = ""
    text: str = ""
    standards: tuple[str, ...] = ()
    declared: object = None


@dataclass(frozen=True, slots=True)
class MarkedRule:
    """What `on_write` says of a function."""

    resources: tuple[str, ...]
    name: str
    reads_document_only: bool


def on_write(*resources: str, name: str = "", reads_document_only: bool = False) -> Callable[[Find], Find]:
    """Run the function on each document of these resources that is to be written, `ed-fi/students` or `ed-fi/Student`;
    of every resource without any.

    The function takes a `RuledWrite`, and returns or yields instances of `Finding`. Its name in metrics, logs and the
    admin is the dotted name unless it is given. With `reads_document_only` it may look at `document`, `client` and
    `organizations` alone, and costs less.
    """

    def mark(function: Find) -> Find:
        setattr(function, MARK, MarkedRule(resources, name, reads_document_only))
        return function

    return mark
