"""Processes that must not outlive the one that started them."""

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress


def ending_with_us(command: Sequence[str], number: signal.Signals) -> list[str]:
    """The command, sent a signal by the system when this process is gone, even by kill -9; where the system can."""
    setpriv = shutil.which("setpriv")
    return [setpriv, f"--pdeathsig={number.name[3:]}", *command] if setpriv else [*command]


def end_session(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Ends a process that was started with `start_new_session`, and what it left in its session.

    SIGTERM to the process first; whatever is there after so many seconds, and whatever outlives the process, is killed.
    """
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    with suppress(ProcessLookupError, PermissionError):  # macOS has the latter for what is about to be gone.
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
