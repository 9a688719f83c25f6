"""How a Python interpreter was built, and which one of several `make` takes.

CPython without profile-guided optimization serves about a seventh fewer requests, and tools that compile Python on the
machine leave it out by default. `make` runs this file before there is a virtual environment, by any Python 3:

    python3 meadowlark/interpreter.py

prints the path of the interpreter to take; with `--build`, how the one that runs it was built.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import subprocess
import sys
import sysconfig
from collections.abc import Iterator

# The versions that servers were measured with. Another one is taken by `make PYTHON=...`, or if it is the only one.
_VERSIONS = ("3.11", "3.12", "3.13", "3.14")
_NAMES = ("python3", *("python" + version for version in _VERSIONS))
_SECONDS = 20


def is_optimized() -> bool:
    """Return whether this interpreter was built with profile-guided optimization: it was configured so, or is the one
    of a Linux distribution (marked as PEP 668 says), which all use it and do not all tell."""
    marker = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")  # noqa: PTH118
    return "--enable-optimizations" in str(sysconfig.get_config_var("CONFIG_ARGS")) or os.path.exists(marker)  # noqa: PTH110


def build() -> str:
    """One line about this interpreter: the same for the same build, another one for another build."""
    number, date = platform.python_build()
    optimization = "with" if is_optimized() else "without"
    name = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{name} ({number}, {date}, {platform.python_compiler()}), {optimization} profile-guided optimization"


def preferred() -> str:
    """The path of the first optimized interpreter on PATH, else of the first one of a measured version, else `python3`.
    All of them can make a virtual environment."""
    usable = dict(_interpreters())
    return next((path for path, optimized in usable.items() if optimized), next(iter(usable), "python3"))


def _interpreters() -> Iterator[tuple[str, bool]]:
    for name in _NAMES:
        for folder in os.get_exec_path():
            path = os.path.join(folder, name)  # noqa: PTH118
            if os.access(path, os.X_OK):
                answer = _answer(path)
                if answer in ("True", "False"):
                    yield path, answer == "True"


def _answer(path: str) -> str | None:
    """Return what `--check` prints; None if it does not run, such as the placeholder of a version manager."""
    try:
        command = [path, os.path.abspath(__file__), "--check"]  # noqa: PTH100
        output = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True, text=True).stdout  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return output.strip()


def _check() -> str:
    """Return whether this interpreter is optimized; nothing if it is of another version or cannot make virtual
    environments, for which Debian has a package of its own."""
    is_measured = f"{sys.version_info[0]}.{sys.version_info[1]}" in _VERSIONS
    return str(is_optimized()) if is_measured and importlib.util.find_spec("ensurepip") else ""


if __name__ == "__main__":
    arguments = sys.argv[1:]
    print(_check() if arguments == ["--check"] else build() if arguments == ["--build"] else preferred())  # noqa: T201
