"""Runs a drill in namespaces of its own, and removes everything it made, even when it is interrupted."""

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import psutil

from meadowlark.run.postgres_programs import ending_with_us
from tests.tools.drills.programs import privately

_TOP = Path(__file__).parents[3]


def run(module: str, arguments: Sequence[str], seconds: float) -> int:
    """The exit status of `python -m module FOLDER arguments ...`, which gets a temporary folder that every account may
    enter; 1 if it takes longer than so many seconds."""
    signal.signal(signal.SIGTERM, _exit)
    with tempfile.TemporaryDirectory(prefix="meadowlark-drill-") as folder:
        Path(folder).chmod(0o755)
        command = privately([sys.executable, "-m", module, folder, *arguments])
        with _ending_with_all_children(command) as process:
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                print(f"The drill did not end within {seconds:.0f} seconds.", file=sys.stderr)
                return 1


@contextmanager
def _ending_with_all_children(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    # A session of its own, so that Ctrl-C reaches this process only.
    process = subprocess.Popen(ending_with_us(command, signal.SIGKILL), cwd=_TOP, start_new_session=True)
    try:
        yield process
    finally:
        # The first process of a namespace ends after all others have ended, and `unshare` waits for it.
        with suppress(psutil.NoSuchProcess):
            for child in psutil.Process(process.pid).children():
                child.kill()
        process.wait()


def _exit(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)
