"""Commands as a person runs them, and the settings they find."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import pytest

from edfi_api.startup import current_compilation
from meadowlark.command_line import main


@dataclass(frozen=True)
class Outcome:
    """What a command said, and why it failed."""

    told: str
    failure: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(monkeypatch, capsys) -> Run:
    def command(*arguments: object) -> Outcome:
        monkeypatch.setattr("sys.argv", ["manage.py", *map(str, arguments)])
        with suppress(SystemExit):
            main()
        told, failure = capsys.readouterr()
        return Outcome(told, failure.removeprefix("CommandError: ").rstrip())

    return command


@pytest.fixture
def configured(settings) -> Iterator[Callable[..., None]]:
    """Other settings of `EDFI_API`, with the surface that they mean."""

    def configure(**changes: object) -> None:
        settings.EDFI_API = settings.EDFI_API | {"CACHE_DIR": None} | changes
        current_compilation.cache_clear()

    yield configure
    current_compilation.cache_clear()
