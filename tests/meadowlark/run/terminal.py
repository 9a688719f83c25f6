"""Commands that read from a terminal, as passwords are."""

import os
import pty
import re
from pathlib import Path

TOP = Path(__file__).parents[3]


def answered(command: str, environment: dict[str, str], *answers: str) -> str:
    """The output of a command on a terminal, where each prompt gets the next answer."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(TOP)
        os.execvpe("bash", ["bash", "-c", command], environment)  # noqa: S606
    output, left = "", list(answers)
    while chunk := _read(terminal):
        output += chunk
        if left and re.search(r": $", output):
            os.write(terminal, f"{left.pop(0)}\n".encode())
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, output
    return output


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 1024).decode()
    except OSError:  # Linux, when the other end is closed.
        return ""
