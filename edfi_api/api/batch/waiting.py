"""The operations that wait, in free order, for what others of the batch may still write or delete."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from edfi_api.api.batch.operations import Kind, Operation
from edfi_api.security.exceptions import NoRelationship
from references.exceptions import DependentItemExists, UnresolvedReference

_MAY_CHANGE = (UnresolvedReference, NoRelationship, DependentItemExists)

# By referential id: the positions of the operations that provide it.
_Providers = dict[int, list[int]]


@dataclass(slots=True)
class _Waiter:
    """What an operation provides, and which targets it misses, as numbers of referential ids."""

    own: frozenset[int]
    missing: frozenset[int]
    may_be_in_circle: bool


class Waiting:
    """The waiting operations by position, in the order in which they came; the search for circles
    (`storage.sets.rounds`) sees those that only lack targets."""

    def __init__(self) -> None:
        self._waiters: dict[int, _Waiter] = {}
        self._own: set[int] = set()
        # While circles are searched: those to try, and which of them provide what.
        self._untried: set[int] = set()
        self._to_try: deque[int] = deque()
        self._providers: _Providers = {}

    def __len__(self) -> int:
        return len(self._waiters)

    @property
    def positions(self) -> Iterable[int]:
        return self._waiters

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
        providers = self._provided_by(sorted(self._waiters))
        earlier: dict[int, list[int]] = {}
        for positions in providers.values():
            for one, next_one in pairwise(positions):
                earlier.setdefault(next_one, []).append(one)
        ordered: dict[int, None] = {}
        for start in self._waiters:
            if start not in ordered:
                self._visit(start, providers, earlier, ordered)
        self._waiters, self._own = {}, set()
        return list(ordered)

    def begin_circles(self) -> None:
        """Begin to search for circles; their members go on waiting until they are removed."""
        able = [position for position, waiter in self._waiters.items() if waiter.may_be_in_circle]
        self._untried, self._to_try = set(able), deque(able)
        self._providers = self._provided_by(able)

    def next_untried(self) -> int | None:
        while self._to_try and self._to_try[0] not in self._untried:
            self._to_try.popleft()
        return self._to_try[0] if self._to_try else None

    def untried_providers(self, position: int) -> Iterator[int]:
        for id_ in self._waiters[position].missing:
            for each in self._providers.get(id_, ()):
                if each != position and each in self._untried:
                    yield each

    def mark_tried(self, positions: Iterable[int]) -> None:
        self._untried.difference_update(positions)

    def remove(self, position: int) -> None:
        del self._waiters[position]

    def _provided_by(self, positions: Iterable[int]) -> _Providers:
        providers: _Providers = {}
        for position in positions:
            for id_ in self._waiters[position].own:
                providers.setdefault(id_, []).append(position)
        return providers

    def _visit(
        self, start: int, providers: _Providers, earlier: Mapping[int, list[int]], ordered: dict[int, None]
    ) -> None:
        """Depth first, without recursion, since chains may be long."""

        def ahead(position: int) -> Iterator[int]:
            for id_ in self._waiters[position].missing:
                yield from providers.get(id_, ())
            yield from earlier.get(position, ())

        begun = {start}
        path = [(start, ahead(start))]
        while path:
            position, following = path[-1]
            found = next((each for each in following if each not in begun and each not in ordered), None)
            if found is None:
                ordered[position] = None
                path.pop()
            else:
                begun.add(found)
                path.append((found, ahead(found)))
