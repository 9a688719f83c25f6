"""What can be wrong with a mapping: facts about its file."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong in a file; `line` and `key` say where, as far as it is known."""

    file: str
    line: int | None
    key: str
    reason: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(part for part in (place, self.key, self.reason) if part)


@dataclass
class InvalidMapping(Exception):
    """A file that cannot be used, with everything that is wrong with it."""

    faults: Sequence[Fault]


@dataclass
class UnknownMapping(Exception):
    """The name is that of neither a bundled mapping, nor a chain of them, nor a file; `bundled` are the names that
    there are.
    """

    named: str
    bundled: Sequence[str]


@dataclass
class LeadsElsewhere(Exception):
    """The mapping leads to another standard than the one that is served."""

    to: str
    served: str
