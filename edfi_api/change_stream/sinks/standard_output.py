"""Changes as lines of JSON on standard output, for a pipe or a file."""

import os
import stat
import sys
from collections.abc import Sequence

from edfi_api.change_stream.changes import Change
from edfi_api.change_stream.exceptions import SinkFailed


class StandardOutput:
    """A file has the lines on disk before the consumer moves on; who reads a pipe has to look after them itself."""

    def __init__(self, consumer: str) -> None:
        self._file = sys.stdout.buffer
        self._is_on_disk = stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)

    def send(self, changes: Sequence[Change]) -> None:
        try:
            self._file.write(b"".join(change.line() for change in changes))
            self._file.flush()
            if self._is_on_disk:
                os.fsync(self._file.fileno())
        except BrokenPipeError as error:
            # What is left in the buffer would be tried again at the exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._file.fileno())
            raise SinkFailed("nobody reads standard output any more") from error

    def close(self) -> None:
        pass
