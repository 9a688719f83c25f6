"""Exceptions of restoring deleted documents."""

from dataclasses import dataclass


@dataclass
class CannotRestore(Exception):
    """A deleted document cannot be restored; each reason is a sentence for operators."""

    reasons: list[str]

    def __str__(self) -> str:
        return " ".join(self.reasons)
