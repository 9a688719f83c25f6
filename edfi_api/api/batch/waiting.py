"""The operations that wait, in free order, for what others of the batch may still write or delete."""

from collections.abc import Iterable
from dataclasses import dataclass

from edfi_api.api.batch.operations import Kind, Operation
from edfi_api.security.exceptions import NoRelationship
from references.exceptions import DependentItemExists, UnresolvedReference

_MAY_CHANGE = (UnresolvedReference, NoRelationship, DependentItemExists)


@dataclass(slots=True)
class _Waiter:
    """What an operation provides, and which targets it misses, as numbers of referential ids."""

    own: frozenset[int]
    missing: frozenset[int]
    may_be_in_circle: bool


class Waiting:
    """The waiting operations by position, in the order in which they came."""

    def __init__(self) -> None:
        self._waiters: dict[int, _Waiter] = {}
        self._own: set[int] = set()

    def __len__(self) -> int:
        return len(self._waiters)

    def takes(self, operation: Operation, own: Iterable[int], refusal: Exception | None) -> bool:
        """Whether the operation waits: it was refused for a reason that others of the batch may remove, or an earlier
        one on the same document waits, behind which it has to be carried out again."""
        own = frozenset(own)
        if not isinstance(refusal, _MAY_CHANGE) and self._own.isdisjoint(own):
            return False
        self._own |= own
        is_unresolved = isinstance(refusal, UnresolvedReference)
        missing = frozenset(id_.int for id_ in refusal.ids) if isinstance(refusal, UnresolvedReference) else frozenset()
        is_upsert = operation.kind in (Kind.CREATE, Kind.UPSERT)
        self._waiters[operation.position] = _Waiter(own, missing, is_unresolved and is_upsert)
        return True

    def taken(self) -> list[int]:
        """The positions, each behind those that provide what it misses as far as there is no circle; none waits then.

        Operations that provide the same keep their order.
        """
        providers: dict[int, list[int]] = {}
        for position, waiter in self._waiters.items():
            for id_ in waiter.own:
                providers.setdefault(id_, []).append(position)
        ordered: dict[int, None] = {}
        for start in self._waiters:
            self._visit(start, providers, ordered)
        self._waiters, self._own = {}, set()
        return list(ordered)

    def without_targets(self, most: int) -> list[int]:
        """The first of those that only lack targets; they go on waiting."""
        return [position for position, waiter in self._waiters.items() if waiter.may_be_in_circle][:most]

    def remove(self, position: int) -> None:
        del self._waiters[position]

    def _visit(self, start: int, providers: dict[int, list[int]], ordered: dict[int, None]) -> None:
        """Depth first, without recursion, since chains may be long."""
        begun: set[int] = set()
        path = [start]
        while path:
            position = path[-1]
            if position in ordered:
                path.pop()
                continue
            begun.add(position)
            waiter = self._waiters[position]
            ahead = [
                each
                for id_ in (*waiter.missing, *waiter.own)
                for each in providers.get(id_, ())
                if each not in begun and each not in ordered and (id_ in waiter.missing or each < position)
            ]
            if ahead:
                path.append(ahead[0])
            else:
                ordered[position] = None
                path.pop()
