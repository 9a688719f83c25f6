"""Exceptions of rules. They carry facts; status and texts for clients are in `problem_details.catalog`."""

from dataclasses import dataclass, field

from edfi_api.core.documents.exceptions import DataValidationFailed


@dataclass
class RefusedByRules(DataValidationFailed):
    """Rules refuse the document; `rules` has their names."""

    rules: tuple[str, ...] = field(default=())


@dataclass
class BudgetExceeded(Exception):
    """A rule takes more than it may; `what` is "look-ups" or "time"."""

    what: str


class InvalidRules(Exception):
    """All problems of the configured rules, as texts with their places."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
