"""Garbage collection of a process that starts: what it made is not traversed again when it ends."""

import subprocess
import sys

CYCLE = """
class Node:
    def __init__(self):
        self.itself = self
    def __del__(self):
        print("collected")

{before}
Node()
"""


def printed_at_exit(before: str) -> str:
    """Standard output of a process that makes a reference cycle and ends."""
    program = CYCLE.format(before=before)
    return subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True).stdout


def test_the_exit_of_a_process_does_not_traverse_what_it_made():
    assert printed_at_exit("") == "collected\n"
    start = "from meadowlark.serving import process; process.pause_garbage_collection()"
    assert printed_at_exit(start) == ""
    assert printed_at_exit(f"{start}; process.resume_garbage_collection()") == ""
