"""A place on disk for what has been read and must wait: what loading needs of memory does not grow with its files."""

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
    """A SQLite database of its own, deleted when it is closed, or by the system with the process.

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
        """What is in it is gone then."""
        self._database.close()
