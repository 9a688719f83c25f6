"""How many requests of one client are at work beside those of another, of eight threads."""

import sys
from collections.abc import Callable
from threading import Event, Thread
from time import thread_time

import pytest

from meadowlark.serving.turns import Turns


def _compute() -> None:
    end = thread_time() + 0.05
    while thread_time() < end:
        pass


def _nothing() -> None:
    pass


@pytest.mark.parametrize(("is_beside", "ended", "begun"), [
    pytest.param(True, _nothing, ["second"], id="a quarter beside others"),
    pytest.param(True, _compute, [], id="one beside others for a client whose requests compute"),
    pytest.param(False, _compute, ["second", "third"], id="all for a client that is alone"),
])  # fmt: skip
def test_the_threads_of_one_client(is_beside: bool, ended: Callable[[], None], begun: list[str]) -> None:
    """A thread may keep Python's global lock for a shorter time while a client that computes is beside others."""
    usual = sys.getswitchinterval()
    turns = Turns(8, most_waiting=10)
    if is_beside:
        turns.take("another", _nothing)
    let_go, done = Event(), []

    def take(name: str) -> Thread:
        begins = Event()

        def work() -> None:
            done.append(name)
            begins.set()
            let_go.wait(30)

        thread = Thread(target=turns.take, args=("greedy", work))
        thread.start()
        if name == "first" or name in begun:
            assert begins.wait(30)
        else:  # It waits for a turn, without a thread.
            thread.join(30)
        return thread

    threads = [take("first")]
    turns.take("greedy", ended)
    threads += [take("second"), take("third")]
    at_work = done.copy()
    is_shorter = sys.getswitchinterval() < usual
    let_go.set()
    for thread in threads:
        thread.join(30)

    assert at_work == ["first", *begun]
    assert (is_shorter, sys.getswitchinterval()) == (not begun, usual)
    assert sorted(done) == ["first", "second", "third"]
