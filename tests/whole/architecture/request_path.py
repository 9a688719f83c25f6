"""The functions of the project that a request calls, counted while it is answered."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from tests.whole.architecture.source import PACKAGES, TOP

_FOLDERS = tuple(f"{TOP / package}/" for package in PACKAGES)
# Parts of the functions that have them; Python 3.12 and later call no functions for most of them.
_COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


@dataclass(frozen=True)
class RequestPath:
    """The functions of the project that were called, in order."""

    calls: tuple[CodeType, ...]

    @property
    def entered(self) -> list[str]:
        """The files of the calls, without the calls that stay in the file of the call before them."""
        files = [code.co_filename for code in self.calls]
        return [file for before, file in zip(["", *files], files, strict=False) if file != before]

    def figures(self) -> tuple[int, int, int, int, int]:
        """Calls, distinct functions, distinct modules, entries into a module that was left before, packages."""
        modules = set(self.entered)
        packages = {file.rpartition("/")[0] for file in modules}
        return len(self.calls), len(set(self.calls)), len(modules), len(self.entered) - len(modules), len(packages)


def path_of(request: Callable[[], Any]) -> RequestPath:
    """The path of what `request` does in this thread. A generator that continues is no further call."""
    calls: list[CodeType] = []
    generators: set[FrameType] = set()

    def count(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_name in _COMPREHENSIONS or not code.co_filename.startswith(_FOLDERS):
            return
        if code.co_flags & inspect.CO_GENERATOR:
            if frame in generators:
                return
            generators.add(frame)
        calls.append(code)

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        request()
    finally:
        sys.setprofile(before)
    return RequestPath(tuple(calls))
