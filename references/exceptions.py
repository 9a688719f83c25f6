"""Exceptions about references between documents. They carry facts; each says who raises it, and where its text for
clients is."""

from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True)
class MissingTarget:
    """A reference in a body whose target does not exist.

    `value` is set for descriptors only: the URI as sent. `is_of_another_type` if a descriptor of another type has it.
    `referential_id` is that of the target.
    """

    path: str
    resource: str
    value: str | None = None
    is_of_another_type: bool = False
    referential_id: UUID | None = field(default=None, compare=False, repr=False)


@dataclass
class UnresolvedReference(Exception):
    """A document refers to others that do not exist: its references to them in body order, at most as many as are
    reported. `ids` are the referential ids of all missing targets.

    `edfi_api/core/storage/write_errors.py` finds them and raises it, when a foreign key has refused a write.
    `unresolved_reference` in `edfi_api/web/problem_details/catalog/conflicts.py` is the answer to the client.
    """

    documents: list[MissingTarget] = field(default_factory=list)
    descriptors: list[MissingTarget] = field(default_factory=list)
    ids: frozenset[UUID] = field(default=frozenset(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Referrer:
    """A document that refers to another."""

    project: str
    resource: str
    document_uuid: UUID
    natural_key: str


@dataclass
class DependentItemExists(Exception):
    """The document in this row cannot be deleted because others refer to it. It is raised and answered by the same
    modules as `UnresolvedReference`.

    `resources` has the resource names of referrers that the caller may read, `referrers` the oldest of all, for logs
    and operators. `path` is the URL path of the document, empty if the caller may not read it.
    """

    row: int
    resources: list[str]
    referrers: list[Referrer]
    path: str = ""
