"""The folder of the workers' metrics files, from which each worker aggregates the metrics of all."""

import os
import shutil
import tempfile
from pathlib import Path

import psutil

_PREFIX = "meadowlark-metrics-"


def make() -> str:
    """A new folder for this server process; removes those of servers that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        process_id = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if process_id.isdecimal() and not psutil.pid_exists(int(process_id)):
            shutil.rmtree(folder, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")
