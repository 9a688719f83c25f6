"""What custom rules warn of in the documents of a load, counted by rule and path."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.documents.paths import in_every_item
from edfi_api.core.writes.rules.ruled_write import Finding

# Texts of rules may have values of documents.
MOST_WARNINGS = 1_000


class RuleWarning(NamedTuple):
    """A rule, the path in the documents of a resource, arrays as `[*]`, and its text."""

    resource: str
    rule: str
    path: str
    text: str


@dataclass(slots=True)
class WarningCounts:
    """How many times each warning occurred; `others` is the number of those beyond a thousand different ones."""

    by_warning: Counter[RuleWarning] = field(default_factory=Counter)
    others: int = 0

    def add(self, resource: str, findings: Iterable[Finding]) -> None:
        for each in findings:
            warning = RuleWarning(resource, each.rule, in_every_item(each.path), each.text)
            if warning in self.by_warning or len(self.by_warning) < MOST_WARNINGS:
                self.by_warning[warning] += 1
            else:
                self.others += 1

    def lines(self, most: int) -> Iterator[str]:
        """`Student: $.birthDate: The birth date has changed. (rule birth-date): 12 documents`, the most frequent
        first."""
        for warning, count in self.by_warning.most_common(most):
            found = f"{warning.resource}: {warning.path}: {warning.text} (rule {warning.rule})"
            yield printable(f"{found}: {counted(count, 'document')}")
        if left := self.others + sum(count for _, count in self.by_warning.most_common()[most:]):
            yield f"... and {left:,} more such warnings"
