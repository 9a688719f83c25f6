"""Temporary storage on disk, so that the memory of a load or a batch does not grow with it."""

import sqlite3
from types import TracebackType
from typing import Self

_TEMPORARY = ""
_CACHE_KIBIBYTES = 16 * 1024
_SETTINGS = f"""
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -{_CACHE_KIBIBYTES};
"""


class TemporaryDatabase:
    """A temporary SQLite database, deleted when it is closed or when the process ends.

    It keeps a few megabytes in memory and the rest on disk. `schema` creates its tables.
    """

    def __init__(self, schema: str) -> None:
        self._database = sqlite3.connect(_TEMPORARY, isolation_level=None)
        self._database.executescript(_SETTINGS + schema)
        self._database.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close and delete the database."""
        self._database.close()
