"""The outcomes of the last writes, from which the next one is foreseen."""

from edfi_api.model.surface.resource import ResourceName
from edfi_api.storage.stored import Outcome


class RecentOutcomes:
    """Of the last two writes of each resource in this process.

    Clients mostly send new documents only, or all their documents repeatedly, or changes only. A wrong guess costs a
    second statement, so none is made while outcomes differ. Threads need no lock: at worst a guess is made or missed.
    """

    def __init__(self) -> None:
        self._last_two: dict[ResourceName, tuple[Outcome | None, Outcome]] = {}

    def likely(self, name: ResourceName) -> Outcome | None:
        """The outcome of both; None if they differ, or there were fewer."""
        one, other = self._last_two.get(name, (None, None))
        return other if one is other else None

    def add(self, name: ResourceName, outcome: Outcome) -> None:
        """The outcome of a write of this resource."""
        _, last = self._last_two.get(name, (None, None))
        self._last_two[name] = last, outcome
