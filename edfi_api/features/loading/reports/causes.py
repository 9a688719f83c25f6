"""The root causes of refusals: what an operator has to correct, and how many documents follow from it.

A document that is refused because its target was refused follows from the cause of that; one whose target is neither in
the files nor in the database follows from the absence of documents of that resource, such as a forgotten file.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.storage.temporary_database import TemporaryDatabase
from references.exceptions import MissingTarget

# More causes than this are not distinguished.
MOST_CAUSES = 1_000
_RESOURCES_SHOWN = 3

_SCHEMA = """
CREATE TABLE refused (alias BLOB PRIMARY KEY, cause INTEGER) WITHOUT ROWID;
CREATE TABLE absent (target BLOB PRIMARY KEY) WITHOUT ROWID;
"""
# The parts that differ between refusals for one reason: indexes, positions, and values in quotes or in the keys of
# conflicts.
_VARYING = (
    (re.compile(r"\[\d+\]"), "[*]"),
    (re.compile(r"\b\d+(st|nd|rd|th)\b"), "nth"),
    (re.compile(r"'[^']*'"), "'...'"),
    (re.compile(r" = [^)]*\)"), " = ...)"),
    (re.compile(r" \(line \d+\)"), ""),
)


@dataclass(slots=True)
class Cause:
    """Something that is wrong, and what is refused for it.

    `reason` is wrong with `direct` documents of `resource`, and `following` others refer to those. If `is_absence`,
    there are no direct ones: `absent` documents of `resource` are referenced that do not exist.
    """

    number: int
    resource: str | None
    reason: str
    first: str
    is_absence: bool = False
    direct: int = 0
    following: int = 0
    absent: int = 0
    by_resource: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """All documents that are refused for it."""
        return self.direct + self.following

    def __str__(self) -> str:
        name = f"{self.resource}: " if self.resource else ""
        return printable(f"{name}{self._what()}, the first at {self.first}{self._consequences()}")

    def _what(self) -> str:
        if not self.is_absence:
            return f"{self.reason}; {counted(self.direct, 'document')}{' alike' if self.direct > 1 else ''}"
        documents = "1 document is" if self.absent == 1 else f"{self.absent:,} documents are"
        return f"{documents} referenced, but neither accepted from the files nor in the database"

    def _consequences(self) -> str:
        if not self.following:
            return ""
        parts = [f"{count:,} {name}" for name, count in self.by_resource.most_common(_RESOURCES_SHOWN)]
        if (left := len(self.by_resource) - len(parts)) > 0:
            parts.append(counted(left, "more resource"))
        others = "" if self.is_absence else " others"
        return f"; {self.following:,}{others} refused for that: {', '.join(parts)}"


class Causes(TemporaryDatabase):
    """The causes of one load. What was refused is kept on disk."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)
        self.found: list[Cause] = []
        self._by_key: dict[tuple[str | None, str, bool], Cause] = {}

    def of_fault(self, resource: str | None, reason: str, place: str, aliases: Iterable[UUID] = ()) -> Cause | None:
        """The cause of a refusal for what is wrong with the document itself; None if there are too many causes."""
        cause = self._cause(resource, _in_general(reason), place, is_absence=False)
        if cause is not None:
            cause.direct += 1
            self._remember((alias.bytes for alias in aliases), cause)
        return cause

    def of_missing(
        self, resource: str, targets: Iterable[MissingTarget], place: str, aliases: Iterable[bytes]
    ) -> Cause | None:
        """The cause of a refusal for missing targets: that of the first one."""
        first = next(iter(targets))
        target = first.referential_id.bytes if first.referential_id else b""
        cause = self._of_target(target, first.resource, place)
        if cause is not None:
            cause.following += 1
            cause.by_resource[resource] += 1
            self._remember(aliases, cause)
        return cause

    def _of_target(self, target: bytes, resource: str, place: str) -> Cause | None:
        if row := self._database.execute("SELECT cause FROM refused WHERE alias = ?", (target,)).fetchone():
            known: int = row[0]
            return self.found[known]
        cause = self._cause(resource, "", place, is_absence=True)
        if cause is not None:
            cause.absent += self._database.execute("INSERT OR IGNORE INTO absent VALUES (?)", (target,)).rowcount
        return cause

    def _cause(self, resource: str | None, reason: str, place: str, *, is_absence: bool) -> Cause | None:
        key = (resource, reason, is_absence)
        if key not in self._by_key:
            if len(self.found) == MOST_CAUSES:
                return None
            self._by_key[key] = Cause(len(self.found) + 1, resource, reason, place, is_absence)
            self.found.append(self._by_key[key])
        return self._by_key[key]

    def _remember(self, aliases: Iterable[bytes], cause: Cause) -> None:
        rows = [(alias, cause.number - 1) for alias in aliases]
        self._database.executemany("INSERT OR IGNORE INTO refused VALUES (?, ?)", rows)


def _in_general(reason: str) -> str:
    """Return what refusals for one reason have in common; what is wrong twice with a document is one thing."""
    for pattern, general in _VARYING:
        reason = pattern.sub(general, reason)
    return "; ".join(dict.fromkeys(reason.split("; ")))
