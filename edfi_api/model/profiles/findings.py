"""What is found wrong, or worth a notice, in the definition of a profile."""

from dataclasses import dataclass
from enum import StrEnum


class FindingSeverity(StrEnum):
    """An error refuses the profile; warnings and notices are only reported."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One finding. `line` is that of the file, 0 if unknown; `profile` is its name, empty if it has none.

    `is_unknown_member` marks the warnings that `load_profiles` takes as errors, since an ExcludeOnly that names nothing
    hides nothing.
    """

    line: int
    severity: FindingSeverity
    text: str
    profile: str = ""
    is_unknown_member: bool = False


class UnreadableDefinition(Exception):
    """A file is no definition of profiles: not well formed, too large, or of another structure."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(finding.text for finding in findings))
        self.findings = findings
