"""The folder in which the workers of a server write what they count, so that each can add up all."""

import os
import shutil
import tempfile
from pathlib import Path

import psutil

_PREFIX = "meadowlark-metrics-"


def make() -> str:
    """A new one for the server that is this process; those of servers that were killed are removed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        process_id = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if process_id.isdecimal() and not psutil.pid_exists(int(process_id)):
            shutil.rmtree(folder, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")
