"""Commands as a person runs them, and the settings they find."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from edfi_api.startup import current_surface


@dataclass(frozen=True)
class Outcome:
    """What a command said, and why it failed."""

    told: str
    failure: str


Run = Callable[..., Outcome]


@pytest.fixture
def run() -> Run:
    def command(*arguments: object) -> Outcome:
        told = StringIO()
        try:
            call_command(*map(str, arguments), stdout=told)
        except CommandError as error:
            return Outcome(told.getvalue(), str(error))
        return Outcome(told.getvalue(), "")

    return command


@pytest.fixture
def configured(settings) -> Iterator[Callable[..., None]]:
    """Other settings of `EDFI_API`, with the surface that they mean."""

    def configure(**changes: object) -> None:
        settings.EDFI_API = settings.EDFI_API | {"CACHE_DIR": None} | changes
        current_surface.cache_clear()

    yield configure
    current_surface.cache_clear()
