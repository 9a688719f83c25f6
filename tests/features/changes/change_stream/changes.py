"""Changes for tests without a database."""

from datetime import UTC, datetime
from uuid import UUID

from edfi_api.features.changes.change_stream.documents import Change, Operation


def change(
    version: int, operation: Operation = Operation.INSERT, text: str | None = '{"studentUniqueId": "1"}'
) -> Change:
    """A change of a student."""
    return Change(
        version=version,
        operation=operation,
        resource="ed-fi/students",
        document_uuid=UUID(int=version),
        natural_key="NK#studentUniqueId=1",
        text=text,
        client="key",
        changed_at=datetime(2026, 11, 21, 12, tzinfo=UTC),
    )
