"""The progress bar of a load, with the estimated time left. It is shown on a terminal only.

It counts the bytes of files, as they are known before anything is read. What is kept on disk between reading and
writing is counted twice: when it is read, and with its share of the bytes when it is written.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any

from tqdm import tqdm

SECONDS_BETWEEN = 0.1


class LoadProgress:
    """The bar of one load."""

    def __init__(self, total: int) -> None:
        self._bar = tqdm(total=total or None, unit="B", unit_scale=True, mininterval=SECONDS_BETWEEN, disable=None)
        self._documents = 0

    def add_to_total(self, count: float) -> None:
        """Add what was not known at the beginning to the total, in bytes."""
        self._bar.total = (self._bar.total or 0) + count

    def at(self, description: str) -> None:
        """What is being loaded, such as the name of a resource."""
        self._bar.set_description_str(description, refresh=False)

    def read(self, count: int) -> None:
        """Count that so many bytes of a file were read."""
        self._bar.update(count)

    def written(self, share: float = 0) -> None:
        """A document has its result; `share` are the bytes that it stands for."""
        self._documents += 1
        self._bar.set_postfix_str(f"{self._documents:,} documents", refresh=False)
        self._bar.update(share)

    def close(self) -> None:
        self._bar.close()


@contextmanager
def load_progress(total: int) -> Iterator[LoadProgress]:
    """The bar of a load of files with this number of bytes."""
    progress = LoadProgress(total)
    try:
        yield progress
    finally:
        progress.close()


def size(path: Path) -> int:
    """The bytes of a file; 0 for one that cannot be found, which is reported when it is read."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def open_counted(path: Path, on_read: Callable[[int], None]) -> BufferedReader:
    """The file, opened for reading; `on_read` is called with the bytes of each part that is read from disk."""
    return BufferedReader(_Counted(path, on_read))


class _Counted(FileIO):
    def __init__(self, path: Path, on_read: Callable[[int], None]) -> None:
        super().__init__(path)
        self._on_read = on_read

    def readinto(self, buffer: Any, /) -> int | None:
        count = super().readinto(buffer)
        self._on_read(count or 0)
        return count
