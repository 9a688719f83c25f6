"""Conditions that a client puts on a write: which versions of the document it expects, or that there is none.

Checked against the version read just before, which the write statement then demands again: between the two nothing
can slip in. See meadowlark/docs/contract.md#versions-and-conditions.
"""

from dataclasses import dataclass
from enum import Enum

from edfi_api.documents.exceptions import MatchingVersionExists, NothingToMatch, VersionHasChanged


class AnyVersion(Enum):
    """The condition `*`: whatever version there is."""

    ANY = "*"


# Change versions; what is no version of ours matches nothing and is left out.
Versions = frozenset[int] | AnyVersion

# What a write statement is told to expect: no version at all.
NO_DOCUMENT = 0


@dataclass(frozen=True, slots=True)
class WriteCondition:
    """`must_match` is If-Match, `must_not_match` If-None-Match; where both are given the first alone counts."""

    must_match: Versions | None = None
    must_not_match: Versions | None = None

    @property
    def is_given(self) -> bool:
        return self.must_match is not None or self.must_not_match is not None

    @property
    def needs_a_document(self) -> bool:
        """`If-Match: *`, under which a missing document is a failed condition, not a missing document."""
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


UNCONDITIONAL = WriteCondition()
CONDITION_FAILURES = (NothingToMatch, VersionHasChanged, MatchingVersionExists)


def _matches(versions: Versions, current: int) -> bool:
    return versions is AnyVersion.ANY or current in versions
