"""Writes changes as lines of JSON to standard output, a pipe or a file."""

import os
import stat
import sys
from collections.abc import Sequence

from edfi_api.features.changes.change_stream.exceptions import SinkFailed
from edfi_api.features.changes.change_stream.log import Event


class StandardOutput:
    """A file is synced to disk before the position advances; with a pipe, durability is up to the reading process."""

    def __init__(self, consumer: str) -> None:
        self._file = sys.stdout.buffer
        self._is_on_disk = stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)

    def send(self, changes: Sequence[Event]) -> None:
        try:
            self._file.write(b"".join(change.line() for change in changes))
            self._file.flush()
            if self._is_on_disk:
                os.fsync(self._file.fileno())
        except BrokenPipeError as error:
            # Otherwise Python flushes the rest of the buffer at exit, and fails again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._file.fileno())
            raise SinkFailed("the reader of standard output has closed the pipe") from error

    def close(self) -> None:
        pass
