"""What is requested of the store: a document to write or to delete, for whom, and under which conditions.

A condition (RFC 9110 §13) names the versions of the document that a client expects, or says that there is none. It is
evaluated against the version read just before; the write statement then requires that version, so a concurrent change
in between makes it write nothing. See meadowlark/docs/reference/contract.md#versions-and-conditions.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

from edfi_api.core.documents.document_validator import ValidatedDocument
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.exceptions import MatchingVersionExists, NothingToMatch, VersionHasChanged
from edfi_api.core.storage.row_policy import MayRead, RowPolicy
from edfi_api.model.surface.resource import Resource

# The values of a statement's parameters.
Values = dict[str, Any]


class AnyVersion(Enum):
    """The condition `*`: any existing version."""

    ANY = "*"


class NamedVersion(NamedTuple):
    """The change version in a tag, -1 in one that this server cannot have issued, and the tag of the profile through
    which it was read; empty without one."""

    version: int
    part: str = ""


Versions = frozenset[NamedVersion] | AnyVersion

# This expected version of a write statement says that the document must not exist.
NO_DOCUMENT = 0


@dataclass(frozen=True, slots=True)
class WriteCondition:
    """`must_match` is If-Match, `must_not_match` If-None-Match; if both are given, only the first is evaluated."""

    must_match: Versions | None = None
    must_not_match: Versions | None = None
    # Versions that match nothing, whoever names them.
    unusable: Set[int] = frozenset()

    @property
    def is_given(self) -> bool:
        return self.must_match is not None or self.must_not_match is not None

    def read_through(self, parts: Set[str]) -> "WriteCondition":
        """The condition of a client that reads the document through the profiles with these tags only: no other version
        that it names matches."""
        return replace(
            self,
            must_match=_read_through(self.must_match, parts),
            must_not_match=_read_through(self.must_not_match, parts),
        )

    @property
    def names_versions(self) -> bool:
        """Whether it tells something about the version of a document: `*` does not."""
        return isinstance(self.must_match, frozenset) or isinstance(self.must_not_match, frozenset)

    @property
    def needs_a_document(self) -> bool:
        """`If-Match: *`: a missing document is then a failed condition (412) and not a 404."""
        return self.must_match is AnyVersion.ANY

    def expected_version(self, current: int | None) -> int:
        """The version that the write may replace, NO_DOCUMENT if it may only insert.

        Raises NothingToMatch, VersionHasChanged or MatchingVersionExists if the condition does not hold.
        """
        if self.must_match is not None:
            if current is None:
                raise NothingToMatch
            if not self._matches(self.must_match, current):
                raise VersionHasChanged
        elif self.must_not_match is not None and self._matches(self.must_not_match, current):
            raise MatchingVersionExists
        return NO_DOCUMENT if current is None else current

    def version_to_replace(
        self, current: Sql, values: Mapping[str, Any], using: str, *, is_by_id: bool = False
    ) -> int | None:
        """Return what `expected_version` returns, for the version that `current` reads; None without a condition, or if
        there is no document with the id of the request and the condition does not require one.
        """
        if not self.is_given:
            return None
        rows = execute(current.bound_to(values), using)
        if not rows:
            return None if is_by_id and not self.needs_a_document else self.expected_version(None)
        return self.expected_version(rows[0][0])

    def _matches(self, versions: Versions, current: int | None) -> bool:
        if current is None or versions is AnyVersion.ANY:
            return current is not None
        return current not in self.unusable and any(each.version == current for each in versions)


def _read_through(versions: Versions | None, parts: Set[str]) -> Versions | None:
    if versions is None or versions is AnyVersion.ANY:
        return versions
    return frozenset(each for each in versions if each.part in parts)


UNCONDITIONAL = WriteCondition()
CONDITION_FAILURES = (NothingToMatch, VersionHasChanged, MatchingVersionExists)


# Not frozen: a frozen dataclass takes five times as long to be made.
@dataclass(slots=True, kw_only=True)
class Terms:
    """The terms of a write: for whom, and under which conditions, something is written. They do not change.

    `client` is the row id of the API client, None for the server itself. `may_read` limits which other documents an
    error names. `read_policy` is that of a client whose condition names versions, of which it learns those of documents
    that it may read only. `using` is the data store.
    """

    client: int | None = None
    condition: WriteCondition = UNCONDITIONAL
    policy: RowPolicy | None = None
    may_read: MayRead | None = None
    read_policy: RowPolicy | None = None
    using: str


@dataclass(slots=True)
class WriteRequest(Terms):
    """A document to insert or to replace."""

    document: ValidatedDocument

    def values(self, document_uuid: UUID) -> Values:
        """The parameters of the statements that write the document; `document_uuid` is the id it has or gets."""
        document = self.document
        return stored_key(document.resource, document_uuid, self.using) | {
            "client": self.client,
            "referential_id": document.identity.referential_id,
            "aliases": document.identity.aliases,
            "targets": document.targets,
            "linked": document.linked,
            "body": document.text.decode(),
            **document.securables._asdict(),
        }


@dataclass(slots=True)
class DeleteRequest(Terms):
    """A document to delete. `user` is the name of the admin's user, for a delete in the admin."""

    resource: Resource
    document_uuid: UUID
    user: str | None = None

    def values(self) -> Values:
        """The parameters of the statements that find and delete the document."""
        key = stored_key(self.resource, self.document_uuid, self.using)
        return {**key, "client": self.client, "user": self.user}


def stored_key(resource: Resource, document_uuid: UUID, using: str) -> Values:
    """The parameters by which a stored document is found."""
    return {"document_uuid": document_uuid, "resource_type": resource_types.numbers(using)[resource.name]}
