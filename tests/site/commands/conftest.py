"""Running commands as from a shell, with settings and projects for them."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from edfi_api.core.served import current_compilation
from meadowlark.run.command_line import main
from tests.model.surface.models import write_project


@dataclass(frozen=True)
class Outcome:
    """Standard output of a command, and its standard error without the prefix of a CommandError."""

    output: str
    failure: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(monkeypatch, capsys) -> Run:
    monkeypatch.setattr("django.setup", lambda: None)  # Logging would keep writing to the captured standard error.

    def command(*arguments: object) -> Outcome:
        monkeypatch.setattr("sys.argv", ["manage.py", *map(str, arguments)])
        with suppress(SystemExit):
            main()
        output, failure = capsys.readouterr()
        return Outcome(output, failure.removeprefix("CommandError: ").rstrip())

    return command


@pytest.fixture
def configured(settings) -> Iterator[Callable[..., None]]:
    """Changes settings of `EDFI_API` and clears the cached surface."""

    def configure(**changes: object) -> None:
        settings.EDFI_API = settings.EDFI_API | {"CACHE_DIR": None} | changes
        current_compilation.cache_clear()

    yield configure
    current_compilation.cache_clear()


@dataclass(frozen=True)
class CommonExtension:
    """An extension of the common `Rig`, as a MetaEd project and as an ApiSchema file, with a standard without `Rig`."""

    standard: Path
    project: Path
    file: Path


@pytest.fixture
def common_extension(run: Run, configured: Callable[..., None], tmp_path: Path) -> CommonExtension:
    standard = "Domain Entity Boat\n  integer BoatId is part of identity\n{}Common Rig\n  string Kind is optional"
    extension = """
Domain Entity EdFi.Boat additions
  common extension EdFi.Rig is optional
Common EdFi.Rig additions
  integer Masts is optional
"""
    with_rig = write_project(tmp_path / "old", "Ed-Fi", standard.format("  common Rig is optional\n"))
    without_rig = write_project(tmp_path / "new", "Ed-Fi", standard.format(""))
    sails = write_project(tmp_path / "sails", "Sails", extension, "1.0.0")
    configured(DATA_STANDARD=str(with_rig), EXTENSIONS=(sails,))
    run("export_api_schema", "--output", tmp_path / "ApiSchema.json")
    return CommonExtension(without_rig, sails, tmp_path / "ApiSchema-Sails.json")
