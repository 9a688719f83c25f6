"""A handler that remembers students, with their data store."""

from edfi_api.features.changes.change_stream.documents import Change
from edfi_api.features.changes.change_stream.handlers import on_change

SEEN: list[tuple[int | None, str]] = []


@on_change("ed-fi/students")
def remember(change: Change) -> None:
    assert change.body is not None
    SEEN.append((change.origin and change.origin.data_store, change.body["studentUniqueId"]))
