"""`make audit` fails where a library could not be looked up, with a stand-in for pip-audit."""

import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).parents[3]
SKIPPED = """Name   Skip Reason
------ ---------------------------------
django Dependency not found on PyPI
"""


@pytest.mark.parametrize(
    ("said", "status", "is_audited"),
    [("No known vulnerabilities found", 0, True), (SKIPPED, 0, False), ("Name Version ID Fix Versions", 1, False)],
    ids=["all looked up", "not looked up", "vulnerable"],
)
def test_the_exit_status_says_whether_everything_was_looked_up(
    tmp_path: Path, said: str, status: int, is_audited: bool
) -> None:
    folder = tmp_path / "audit"
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "pip-audit"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\nexit {status}\n")
    program.chmod(0o755)
    (folder / "ready").touch()

    done = subprocess.run(
        ["make", "audit", f"AUDIT={folder}", "AUDITED=one.lock two.lock", f"--assume-old={folder}/ready"],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode == 0) is is_audited, done.stdout + done.stderr
    assert said.splitlines()[0] in done.stdout
    assert ("not audited: one.lock two.lock" in done.stdout) is not is_audited
