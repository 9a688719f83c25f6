"""Which missing targets may still come while a load goes on, in load order and then in rounds.

Load order puts targets before referrers, but for documents that refer to others of their own resource (a parent
objective), or to resources further down where references run in a circle. Those wait for the next round.
"""

from collections.abc import Sequence

from edfi_api.documents.bulk.candidates import Refusal
from edfi_api.documents.store import Outcome
from edfi_api.surface.resource import Resource
from references.exceptions import UnresolvedReference


class Expectations:
    """What is still expected in the present round; resources are known by their rank in load order."""

    def __init__(self, resources: Sequence[Resource]) -> None:
        self._resources = resources
        self._not_before = _names_not_before(resources)
        self._awaited: set[str] = set()

    def begin_round(self) -> None:
        self._awaited = set()

    def may_still_come(self, rank: int, result: Outcome | Refusal) -> bool:
        """Whether a document misses something, all of it of a kind of which documents follow or wait."""
        if not isinstance(result, UnresolvedReference):
            return False
        missing = {target.resource for target in (*result.documents, *result.descriptors)}
        return missing <= self._not_before[rank] | self._awaited

    def wait(self, rank: int) -> None:
        """A document of this rank waits."""
        self._awaited |= _names(self._resources[rank])


def _names_not_before(resources: Sequence[Resource]) -> list[set[str]]:
    """For each resource the names of those that do not stand before it, its own among them."""
    following: set[str] = set()
    found = []
    for resource in reversed(resources):
        following = following | _names(resource)
        found.append(following)
    return found[::-1]


def _names(resource: Resource) -> set[str]:
    """What a reference to its documents can be called."""
    return {resource.name.resource} | ({resource.superclass.name.resource} if resource.superclass else set())
