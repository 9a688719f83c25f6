"""Writing and loading of interchange files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edfi_api.core.models import Document
from edfi_api.features.loading.interchange.loading import interchange_files, load_interchange
from edfi_api.features.loading.reports.results import LoadResult, Refused
from edfi_api.model.surface.resource import Surface
from tests.features.loading.interchange.documents import interchange

Write = Callable[..., Path]
Stored = Callable[[str], list[dict[str, Any]]]


class Loader:
    """Loads interchange files; `refused` are all refusals so far, in order."""

    def __init__(self, surface: Surface, write: Write) -> None:
        self._surface = surface
        self.write = write
        self.refused: list[Refused] = []

    def documents(self, *documents: str) -> LoadResult:
        """Load these documents as one file."""
        return self.files(self.write(interchange(*documents)))

    def files(self, *paths: Path, is_dry_run: bool = False) -> LoadResult:
        return load_interchange(self._surface, interchange_files(paths), self.refused.append, is_dry_run=is_dry_run)

    @property
    def reasons(self) -> list[str]:
        return [refused.reason for refused in self.refused]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file to the folder of the test; `Student.xml` by default."""

    def write_text(text: str, name: str = "Student.xml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_text


@pytest.fixture
def loader(db: None, surface: Surface, write: Write) -> Loader:
    return Loader(surface, write)


@pytest.fixture
def stored() -> Callable[[str], list[dict[str, Any]]]:
    """The bodies of a resource's documents, in order of writing."""

    def bodies(resource: str) -> list[dict[str, Any]]:
        return list(Document.objects.filter(resource_type__name=resource).order_by("id").values_list("body", flat=True))

    return bodies
