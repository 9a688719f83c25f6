"""XML schemas of small models."""

from itertools import count
from pathlib import Path

import pytest

from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.metaed.model import Model
from edfi_api.model.xsd.files import schema_files
from tests.model.surface.models import write_project
from tests.model.xsd.models import SHARED_STRINGS, Schemas, SchemasOf, loaded, parsed, saved


@pytest.fixture
def model_of(tmp_path: Path):
    """Compiles the text of a core, with the shared strings that its schema requires, and of extensions by name."""
    numbers = count()

    def compiled(core: str = "", *, version: str = "5.2.0", tag: str = "EXTENSION", **extensions: str) -> Model:
        folder = tmp_path / f"models{next(numbers)}"
        paths = [write_project(folder / "core", "Ed-Fi", SHARED_STRINGS + core, version)]
        for name, text in extensions.items():
            paths.append(write_project(folder / name, name, text, "1.0.0", projectExtension=tag))
        return compile_projects(paths)

    return compiled


@pytest.fixture
def schemas_of(model_of, tmp_path: Path) -> SchemasOf:
    """The files of the last extension, or of the core without one. Asserts that all are valid schemas."""
    numbers = count()

    def schemas(core: str = "", *, version: str = "5.2.0", tag: str = "EXTENSION", **extensions: str) -> Schemas:
        made = schema_files(model_of(core, version=version, tag=tag, **extensions))
        assert made.warnings == ()
        files = made.of([*extensions, "Ed-Fi"][len(extensions) - 1 if extensions else 0])
        loaded(saved(files, tmp_path / f"schemas{next(numbers)}"))
        return parsed(files)

    return schemas
