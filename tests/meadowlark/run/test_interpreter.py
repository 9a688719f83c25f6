"""The interpreter that `make` takes for the virtual environment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[3]


def interpreter(path: Path, script: str) -> Path:
    """A program that answers as an interpreter would."""
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def taken(*folders: Path) -> str:
    command = [sys.executable, "meadowlark/interpreter.py"]
    environment = os.environ | {"PATH": os.pathsep.join(map(str, folders))}
    return subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_an_optimized_interpreter_is_preferred_to_the_first_one(tmp_path: Path) -> None:
    first = interpreter(tmp_path / "first" / "python3", "echo False")
    second = interpreter(tmp_path / "second" / "python3.12", "echo True")

    assert taken(first.parent, second.parent) == str(second)
    assert taken(first.parent) == str(first)


@pytest.mark.parametrize("script", ["exit 127", "exec sleep 0", "echo Python 2.7.18"])
def test_what_is_no_interpreter_of_a_tested_version_is_left_out(tmp_path: Path, script: str) -> None:
    other = interpreter(tmp_path / "other" / "python3", script)
    usable = interpreter(tmp_path / "usable" / "python3", "echo False")

    assert taken(other.parent, usable.parent) == str(usable)
    assert taken(other.parent) == "python3"
