"""What can be wrong with a table as a whole, and with the template that is applied to it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class UnreadableTable(Exception):
    """The file cannot be read, or not beyond a row."""

    reason: str
    row: int | None = None

    def __str__(self) -> str:
        return self.reason if self.row is None else f"Row {self.row}: {self.reason}"


@dataclass
class InvalidTemplate(Exception):
    """A text that is not a template, or one that does not fit a resource or a table."""

    reasons: Sequence[str]

    def __str__(self) -> str:
        return " ".join(self.reasons)


class ClientGone(Exception):
    """The API client of a load is disabled, has expired, or does not exist any more."""

    def __str__(self) -> str:
        return "The API client is disabled, has expired, or was removed."
