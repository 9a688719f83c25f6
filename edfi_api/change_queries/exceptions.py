"""Why a delete cannot be undone."""

from dataclasses import dataclass


@dataclass
class CannotRestore(Exception):
    """Each reason is a sentence for people."""

    reasons: list[str]

    def __str__(self) -> str:
        return " ".join(self.reasons)
