"""What the references of a document can be refused for: facts, without wording."""

from dataclasses import dataclass, field


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
    """A document that points at another: its resource, its natural key, and its row."""

    resource: str
    natural_key: str
    project: str
    row: int


@dataclass
class DependentItemExists(Exception):
    """The document cannot go: these point at it. `resources` names all their types, `referrers` some of each, the
    oldest first."""

    resources: list[str]
    referrers: list[Referrer]
