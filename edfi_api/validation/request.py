"""What a run of rules is to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from .rule import Rule


@dataclass(frozen=True, slots=True)
class Request:
    """What to run: rules by identifier, categories; of no organizations but these; with these values of parameters."""

    rules: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    organizations: tuple[int, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    is_full: bool = False
    is_rehearsal: bool = False
    jobs: int = 2
    # Whether rules read from a replica.
    on_replica: bool = False
    by: str = "command"
    # The id that the run is to have.
    run: UUID | None = None
    # Whether the rules are all there are: results of others are resolved then.
    retires_others: bool = True

    def includes(self, rule: Rule) -> bool:
        return (not self.rules or rule.identifier in self.rules) and (
            not self.categories or rule.category in self.categories
        )
