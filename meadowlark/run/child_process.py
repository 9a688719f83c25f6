"""Child processes that end with their parent."""

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress


def ending_with_us(command: Sequence[str], number: signal.Signals) -> list[str]:
    """The command, wrapped so that the kernel signals it when this process ends, even by kill -9. Without the program
    `setpriv` (util-linux) the command itself."""
    setpriv = shutil.which("setpriv")
    return [setpriv, f"--pdeathsig={number.name[3:]}", *command] if setpriv else [*command]


def end_session(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Ends a process that was started with `start_new_session`, and the rest of its session.

    The process gets SIGTERM; after `seconds`, or once it has ended, the remaining processes of its group are killed.
    """
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    with suppress(ProcessLookupError, PermissionError):  # macOS raises the latter for exiting processes.
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
