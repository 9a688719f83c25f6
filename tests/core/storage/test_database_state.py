"""State of a process about a database: computed once for each, and dropped with its data store."""

import pytest

from edfi_api.core.storage import database_state
from edfi_api.core.storage.database_state import database_state as state_of


def test_state_is_computed_once_for_each_database():
    made: list[str] = []

    def make(using: str) -> str:
        made.append(using)
        return f"kept of {using}"

    found = [state_of(using).value(make) for using in ("one", "other", "one", "other")]

    assert found == ["kept of one", "kept of other", "kept of one", "kept of other"]
    assert made == ["one", "other"]


def test_an_empty_container_is_kept():
    def make(_using: str) -> dict[str, int]:
        return {}

    state_of("one").value(make)["count"] = 1

    assert state_of("one").value(make) == {"count": 1}
    assert state_of("other").value(make) == {}


def test_nothing_is_kept_of_what_fails():
    def make(_using: str) -> int:
        raise LookupError

    for _ in range(2):
        with pytest.raises(LookupError):
            state_of("one").value(make)


def test_dropped_state_is_computed_again():
    def make(_using: str) -> list[int]:
        return []

    first = state_of("one").value(make)
    state_of("one").drop(make)
    second = state_of("one").value(make)
    database_state.forget()

    assert second is not first
    assert state_of("one").value(make) is not second
