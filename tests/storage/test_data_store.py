"""State of a process about a database: computed once for each, and dropped with its data store."""

import pytest

from edfi_api.storage import data_store
from edfi_api.storage.data_store import data_store as store_of


def test_state_is_computed_once_for_each_database():
    made: list[str] = []

    def make(using: str) -> str:
        made.append(using)
        return f"kept of {using}"

    found = [store_of(using).state(make) for using in ("one", "other", "one", "other")]

    assert found == ["kept of one", "kept of other", "kept of one", "kept of other"]
    assert made == ["one", "other"]


def test_an_empty_container_is_kept():
    def make(_using: str) -> dict[str, int]:
        return {}

    store_of("one").state(make)["count"] = 1

    assert store_of("one").state(make) == {"count": 1}
    assert store_of("other").state(make) == {}


def test_nothing_is_kept_of_what_fails():
    def make(_using: str) -> int:
        raise LookupError

    for _ in range(2):
        with pytest.raises(LookupError):
            store_of("one").state(make)


def test_dropped_state_is_computed_again():
    def make(_using: str) -> list[int]:
        return []

    first = store_of("one").state(make)
    store_of("one").drop(make)
    second = store_of("one").state(make)
    data_store.forget()

    assert second is not first
    assert store_of("one").state(make) is not second
