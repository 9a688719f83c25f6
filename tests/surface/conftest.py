"""Surfaces compiled from small texts."""

from itertools import count
from pathlib import Path

import pytest

from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.surface.builder import build_surface
from edfi_api.model.surface.resource import Surface
from tests.surface.models import SurfaceOf, write_project


@pytest.fixture
def surface_of(tmp_path: Path) -> SurfaceOf:
    """Compiles the text of a core project, and of extension projects given by name."""
    numbers = count()

    def compiled(core: str, version: str = "5.2.0", **extensions: str) -> Surface:
        folder = tmp_path / f"models{next(numbers)}"
        core_folder = write_project(folder / "core", "Ed-Fi", core, version)
        others = [write_project(folder / name, name, text, "1.0.0") for name, text in extensions.items()]
        return build_surface(compile_projects([core_folder, *others]))

    return compiled
