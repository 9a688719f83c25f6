"""Where a drill is not possible, `make` goes on and says why."""

import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[3]


def test_a_missing_program_is_named_with_its_package(tmp_path: Path) -> None:
    reason = "needs the program unshare (Debian: apt-get install util-linux)"
    if os.geteuid() != 0:
        reason = "needs Linux and root, since it runs in namespaces of its own"

    done = subprocess.run(
        [sys.executable, "-m", "tests.tools.drills", "failover", "--rounds", "1"],
        cwd=TOP,
        env=os.environ | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, f"skipped: {reason}.\n"), done.stderr
