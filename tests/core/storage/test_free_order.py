"""Documents that wait come in an order in which they can be written; circles are found in time that grows with the
references."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from edfi_api.core.storage.sets.free_order import DeferredDocuments, next_circles

Targets = dict[int, list[int]]


class Graph:
    """Documents by number, with the numbers of those they refer to."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self._untried = dict.fromkeys(targets)
        self.looked_at = 0

    def __len__(self) -> int:
        return len(self._targets)

    def next_untried(self) -> int | None:
        return next(iter(self._untried), None)

    def untried_providers(self, number: int) -> Iterator[int]:
        for target in self._targets[number]:
            self.looked_at += 1
            if target in self._untried and target != number:
                yield target

    def mark_tried(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._untried.pop(number)


def waiting_for(targets: Targets, ranks: dict[int, int] | None = None) -> DeferredDocuments:
    """Each document provides its own number."""
    waiting = DeferredDocuments()
    for number, missing in targets.items():
        own, rank = [UUID(int=number).bytes], (ranks or {}).get(number, 0)
        waiting.add(number, rank, own, {UUID(int=target) for target in missing})
    return waiting


def circles(graph: Graph | DeferredDocuments, enough: int = 1, most: int = 1_000) -> list[list[int]]:
    found = []
    while members := next_circles(graph, enough, most):
        found.append(members)
    return found


def reached(targets: Targets, start: int) -> set[int]:
    """From the targets of a document on."""
    found: set[int] = set()
    ahead = [each for each in targets[start] if each != start]
    while ahead:
        if (number := ahead.pop()) not in found:
            found.add(number)
            ahead += [each for each in targets[number] if each != number]
    return found


@st.composite
def graphs(draw: st.DrawFn) -> Targets:
    count = draw(st.integers(1, 9))
    return {number: draw(st.lists(st.integers(0, count - 1), max_size=3)) for number in range(count)}


@given(graphs(), st.integers(1, 5))
def test_every_circle_is_found_once(targets: Targets, enough: int) -> None:
    with closing(waiting_for(targets)) as waiting:
        waiting.begin_circles()
        found = circles(waiting, enough)

    members = [number for each in found for number in each]
    in_circles = {number for number in targets if number in reached(targets, number)}
    behind_circles = {each for number in in_circles for each in reached(targets, number)}
    assert len(members) == len(set(members))
    assert in_circles <= set(members) <= behind_circles


def test_circles_come_until_there_are_enough() -> None:
    pairs = {number: [number ^ 1] for number in range(10)}

    assert circles(Graph(pairs), enough=3) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_circle_that_is_too_large_is_left_out_and_hides_no_other() -> None:
    targets = {1: [2], 2: [3], 3: [4], 4: [1], 5: [6, 1], 6: [5], 7: [8], 8: [7]}

    assert circles(Graph(targets), most=3) == [[5, 6], [7, 8]]


def test_each_reference_is_looked_at_a_few_times() -> None:
    count = 2_000
    chain = {number: [number + 1] for number in range(count)} | {count: []}
    circles_on_a_chain = {
        **{3 * number: [3 * number + 1, 3 * number + 3] for number in range(count)},
        **{3 * number + 1: [3 * number + 2] for number in range(count)},
        **{3 * number + 2: [3 * number + 1] for number in range(count)},
        3 * count: [],
    }

    for targets, in_circles in ((chain, 0), (circles_on_a_chain, 2 * count)):
        graph = Graph(targets)
        assert sum(len(each) for each in circles(graph, enough=10_000, most=10)) == in_circles
        assert graph.looked_at <= 4 * len(targets)


@given(graphs())
def test_every_document_comes_once_and_behind_what_it_refers_to(targets: Targets) -> None:
    with closing(waiting_for(targets)) as waiting:
        in_order, left = list(waiting.begin_pass()), list(waiting.left())

    in_circles = {number for number in targets if number in reached(targets, number)}
    free = {number for number in targets if not in_circles & {number, *reached(targets, number)}}
    assert len(in_order) == len(set(in_order))
    assert set(in_order) == free
    for number in free:
        assert all(in_order.index(each) < in_order.index(number) for each in targets[number] if each != number)
    assert sorted(left) == sorted(targets)
    assert left[: len(in_order)] == in_order


def test_of_those_that_wait_for_nothing_the_lower_ranks_come_first() -> None:
    with closing(waiting_for({1: [], 2: [], 3: [4], 4: []}, ranks={1: 2, 2: 1, 3: 0, 4: 1})) as waiting:
        assert list(waiting.begin_pass()) == [2, 4, 1, 3]


def test_versions_of_a_document_keep_their_order() -> None:
    one, other = UUID(int=1).bytes, UUID(int=2).bytes
    with closing(DeferredDocuments()) as waiting:
        waiting.add(1, 2, [one], ())
        waiting.add(2, 1, [one, other], ())
        waiting.add(3, 0, [other], ())

        assert waiting.has_earlier([other], 3)
        assert not waiting.has_earlier([other], 2)
        assert list(waiting.begin_pass()) == [1, 2, 3]
        waiting.remove(2)
        assert not waiting.has_earlier([other], 3)
        assert list(waiting.begin_pass()) == [3, 1]
        assert len(waiting) == 2
