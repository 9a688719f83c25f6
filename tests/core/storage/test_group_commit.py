"""Group commit, with threads that write nothing: who waits for whom, and which result each of them gets."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock

import pytest

from edfi_api.core.storage.upsert_groups import GroupCommit

_SECONDS = 20


class Statements:
    """Requests of threads. A statement ends when `released` is set."""

    def __init__(self, patience: float = _SECONDS) -> None:
        self.commits: GroupCommit[str, str] = GroupCommit(patience, group_size=4)
        self.alone: list[str] = []
        self.groups: list[list[str]] = []
        self.released = Event()
        self.pool = ThreadPoolExecutor(30)

    def start(self, request: str, key: str = "key") -> Future[str | None]:
        return self.pool.submit(self.commits.execute, key, request, lambda: self.execute_alone(request), self.together)

    def execute_alone(self, request: str) -> str:
        self.alone.append(request)
        assert self.released.wait(_SECONDS)
        return f"alone {request}"

    def together(self, requests: Sequence[str]) -> dict[int, str]:
        self.groups.append(list(requests))
        assert self.released.wait(_SECONDS)
        return {position: f"group {request}" for position, request in enumerate(requests) if request != "left"}

    def are_waiting(self, number: int) -> bool:
        return sum(len(group.members) for group in self.commits._waiting.values()) == number


@pytest.fixture
def statements() -> Iterator[Statements]:
    made = Statements()
    yield made
    made.released.set()
    made.pool.shutdown()


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_a_request_without_others_is_executed_alone(statements):
    statements.released.set()

    assert statements.start("a").result(_SECONDS) == "alone a"
    assert statements.start("b").result(_SECONDS) == "alone b"

    assert statements.groups == []


def test_requests_that_come_while_a_statement_runs_are_executed_together(statements):
    first = statements.start("first")
    wait_until(lambda: statements.alone == ["first"])
    others = [statements.start(name) for name in ("a", "left", "b")]
    wait_until(lambda: statements.are_waiting(3))

    statements.released.set()

    assert first.result(_SECONDS) == "alone first"
    assert [other.result(_SECONDS) for other in others] == ["group a", None, "group b"]
    assert [sorted(group) for group in statements.groups] == [["a", "b", "left"]]
    assert statements.alone == ["first"]


def test_a_full_group_does_not_wait(statements):
    statements.start("first")
    wait_until(lambda: statements.alone == ["first"])

    for number, names in enumerate(("abcd", "efgh"), 1):
        for name in names:
            statements.start(name)
        wait_until(lambda number=number: len(statements.groups) == number)

    assert [sorted(group) for group in statements.groups] == [list("abcd"), list("efgh")]


def test_requests_with_different_keys_do_not_wait_for_each_other(statements):
    statements.start("first", "key")
    statements.start("other", "other key")

    wait_until(lambda: sorted(statements.alone) == ["first", "other"])


def test_no_statement_makes_others_wait_for_longer_than_their_patience():
    statements = Statements(patience=0.05)
    first = statements.start("first")
    wait_until(lambda: statements.alone == ["first"])

    statements.start("second")
    wait_until(lambda: statements.groups == [["second"]])
    statements.start("third")
    wait_until(lambda: statements.groups == [["second"], ["third"]])

    assert not first.done()
    statements.released.set()
    assert first.result(_SECONDS) == "alone first"
    statements.pool.shutdown()
    assert statements.commits._waiting == {}


def test_a_failure_alone_does_not_stop_those_that_wait(statements):
    def fail() -> str:
        statements.execute_alone("first")
        raise ValueError

    first = statements.pool.submit(statements.commits.execute, "key", "first", fail, statements.together)
    wait_until(lambda: statements.alone == ["first"])
    second = statements.start("second")
    wait_until(lambda: statements.are_waiting(1))

    statements.released.set()

    assert second.result(_SECONDS) == "group second"
    with pytest.raises(ValueError):
        first.result(_SECONDS)


def test_each_of_many_requests_is_executed_once_and_gets_its_own_result():
    commits: GroupCommit[int, int] = GroupCommit(patience=0.002, group_size=6)
    executed: list[int] = []
    groups: list[int] = []
    lock = Lock()
    chance = random.Random(1)  # noqa: S311

    def together(requests: Sequence[int]) -> dict[int, int]:
        with lock:
            executed.extend(requests)
            groups.append(len(requests))
            pause = chance.random() / 200
        time.sleep(pause)  # From shorter to longer than the patience.
        return {position: -request for position, request in enumerate(requests)}

    def result(request: int) -> int | None:
        return commits.execute(request % 2, request, lambda: together([request])[0], together)

    requests = range(1, 3001)
    with ThreadPoolExecutor(24) as pool:
        results = list(pool.map(result, requests))

    assert results == [-request for request in requests]
    assert sorted(executed) == list(requests)
    assert max(groups) > 2
    assert commits._waiting == {}
