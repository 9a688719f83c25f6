"""Which of the documents that wait for each other are written next: those that can be, in rounds, and circles at once.

Loads keep what waits on disk, batches keep positions in memory; both decide here.
"""

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class WaitingInRounds(Sized, Protocol):
    """Documents that wait, by number; in each round, each of them is tried once."""

    def next_untried(self) -> int | None:
        """The first one that has not been tried in this round."""

    def untried_providers(self, number: int) -> Iterator[int]:
        """The others that provide what this one misses, and have not been tried when they are taken."""

    def mark_tried(self, numbers: Iterable[int]) -> None:
        """In this round they are neither returned nor waited for again."""


def in_rounds(
    waiting: Sized, one_round: Callable[[], Iterator[Result]], circles: Callable[[], Iterator[Result]]
) -> Iterator[Result]:
    """The results of rounds, as long as less is waiting after each; those of circles where a round changes nothing."""
    is_progress = True
    while len(waiting) and is_progress:
        before = len(waiting)
        yield from one_round()
        if len(waiting) == before:
            yield from circles()
        is_progress = len(waiting) < before


def next_circles(waiting: WaitingInRounds, enough: int, most: int) -> list[int]:
    """The members of circles not yet tried in this round, with all that they refer to, in order: until there are
    `enough`, or no more circles. One of more than `most` documents is left out."""
    members: set[int] = set()
    for circle in _circles(waiting, most):
        members |= circle if len(circle) <= most else set()
        if len(members) >= enough:
            break
    return sorted(members)


def _circles(waiting: WaitingInRounds, most: int) -> Iterator[set[int]]:
    """Depth first, each document once: one without providers that are left is in no circle."""
    while (start := waiting.next_untried()) is not None:
        path = {start: waiting.untried_providers(start)}
        while path:
            last = next(reversed(path))
            provider = next(path[last], None)
            if provider is None:
                waiting.mark_tried([last])
                del path[last]
            elif provider not in path:
                path[provider] = waiting.untried_providers(provider)
            else:
                circle = _with_targets(provider, waiting, most)
                waiting.mark_tried(circle)
                for number in circle:
                    path.pop(number, None)
                yield circle


def _with_targets(member: int, waiting: WaitingInRounds, most: int) -> set[int]:
    """All that a member of a circle refers to, itself included; not all if they are more than `most`."""
    members, ahead = {member}, [member]
    while ahead and len(members) <= most:
        new = set(waiting.untried_providers(ahead.pop())) - members
        members |= new
        ahead += new
    return members
