"""Why a sandbox was not made, reset or dropped."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.core.management.base import CommandError
from django.db import DatabaseError, InterfaceError

from edfi_api.common.commands import ErrorTexts, text_of
from edfi_api.core.data_stores.data_store_command import ERRORS_OF_STORES


@dataclass
class SandboxFailed(Exception):
    """A step failed; what the steps before it had made is gone again."""

    step: str
    reason: str

    def __str__(self) -> str:
        return f"It failed at {self.step}: {self.reason}"


class NoSuchSandbox(Exception):
    """There is no sandbox of this name."""


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())


ERRORS_OF_SANDBOXES: ErrorTexts = {NoSuchSandbox: str, SandboxFailed: str}
_ERRORS_OF_STEPS: ErrorTexts = {
    **ERRORS_OF_STORES,
    **dict.fromkeys((DatabaseError, InterfaceError, CommandError, OSError), _in_one_line),
}


@contextmanager
def step(name: str) -> Iterator[None]:
    """Name the step in which something fails."""
    try:
        yield
    except Exception as error:
        if (text := text_of(error, _ERRORS_OF_STEPS)) is None:
            raise
        raise SandboxFailed(name, text) from error
