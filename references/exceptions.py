"""What the references of a document can be refused for: facts, without wording."""

from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True)
class MissingTarget:
    """A reference in a body whose target does not exist.

    `value` is set for descriptors: the URI as sent, which may belong to a descriptor of another type.
    """

    path: str
    resource: str
    value: str | None = None
    is_of_another_type: bool = False


@dataclass
class UnresolvedReference(Exception):
    """All references of one document that point at nothing, in body order."""

    documents: list[MissingTarget] = field(default_factory=list)
    descriptors: list[MissingTarget] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Referrer:
    """A document that points at another: its resource, its id, and its natural key."""

    project: str
    resource: str
    document_uuid: UUID
    natural_key: str


@dataclass
class DependentItemExists(Exception):
    """The document in this row cannot be deleted: others point at it. `resources` names all their types, `referrers`
    are the oldest of them. `path` is that of the document, empty for a caller that may not read it."""

    row: int
    resources: list[str]
    referrers: list[Referrer]
    path: str = ""
