"""Prints the folder for temporary files of tests: in memory where there is enough of it, else the usual one.

`make` runs it by any Python 3. Tests create and drop hundreds of databases, for which the file system of a disk takes
more processor time than PostgreSQL.
"""

import os
import shutil
import tempfile

_MEMORY = "/dev/shm"  # noqa: S108
_NEEDED_BYTES = 8 * 1024**3


def folder() -> str:
    """TMPDIR and the like are respected."""
    usual = tempfile.gettempdir()
    if any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")) or not os.access(_MEMORY, os.W_OK):
        return usual
    return _MEMORY if shutil.disk_usage(_MEMORY).free > _NEEDED_BYTES else usual


if __name__ == "__main__":
    print(folder())
