"""Models compiled from small texts."""

from itertools import count
from pathlib import Path

import pytest

from edfi_api.model.metaed.compiler import check_projects, compile_projects
from edfi_api.model.metaed.model import Model
from tests.model.metaed.projects import MessagesOf, ModelOf, write_projects


@pytest.fixture
def model_of(tmp_path: Path) -> ModelOf:
    """Compiles the text of a core project, and of extension projects given by name."""
    numbers = count()

    def compiled(core: str = "", **extensions: str) -> Model:
        return compile_projects(write_projects(tmp_path / str(next(numbers)), core, extensions))

    return compiled


@pytest.fixture
def messages_of(tmp_path: Path) -> MessagesOf:
    """What is wrong with these texts, each message with its line, warnings marked as such."""
    numbers = count()

    def checked(core: str = "", version: str = "5.2.0", **extensions: str) -> list[str]:
        _, problems = check_projects(write_projects(tmp_path / str(next(numbers)), core, extensions, version))
        return [
            f"{problem.place.line}: {'' if problem.is_error else 'warning: '}{problem.message}" for problem in problems
        ]

    return checked
