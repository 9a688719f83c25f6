"""Preconditions of a write (RFC 9110 §13): the versions of the document that a client expects, or that there is none.

The condition is evaluated against the version read just before; the write statement then requires that version, so a
concurrent change in between makes it write nothing. See meadowlark/docs/reference/contract.md#versions-and-conditions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from edfi_api.storage.driver.execution import execute
from edfi_api.storage.driver.sql import Sql
from edfi_api.storage.exceptions import MatchingVersionExists, NothingToMatch, VersionHasChanged


class AnyVersion(Enum):
    """The condition `*`: any existing version."""

    ANY = "*"


# The change versions of the listed tags. A tag that this server cannot have issued matches nothing.
Versions = frozenset[int] | AnyVersion

# As the expected version of a write statement: the document must not exist.
NO_DOCUMENT = 0


@dataclass(frozen=True, slots=True)
class WriteCondition:
    """`must_match` is If-Match, `must_not_match` If-None-Match; if both are given, only the first is evaluated."""

    must_match: Versions | None = None
    must_not_match: Versions | None = None

    @property
    def is_given(self) -> bool:
        return self.must_match is not None or self.must_not_match is not None

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
            if not _matches(self.must_match, current):
                raise VersionHasChanged
        elif self.must_not_match is not None and current is not None and _matches(self.must_not_match, current):
            raise MatchingVersionExists
        return NO_DOCUMENT if current is None else current

    def version_to_replace(
        self, current: Sql, values: Mapping[str, Any], using: str, *, is_by_id: bool = False
    ) -> int | None:
        """As `expected_version`, for the version that the statement `current` reads; None without a condition, or if
        there is no document with the id of the request and the condition does not require one."""
        if not self.is_given:
            return None
        rows = execute(current.bound_to(values), using)
        if not rows and is_by_id and not self.needs_a_document:
            return None
        return self.expected_version(rows[0][0] if rows else None)


UNCONDITIONAL = WriteCondition()
CONDITION_FAILURES = (NothingToMatch, VersionHasChanged, MatchingVersionExists)


def _matches(versions: Versions, current: int) -> bool:
    return versions is AnyVersion.ANY or current in versions
