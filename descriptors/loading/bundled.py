"""The descriptor values bundled with a data standard, as documents to load."""

from collections.abc import Iterator
from pathlib import Path

from edfi_api.loading.bulk import Candidate
from edfi_api.model.surface.bundled_descriptors import FILE_NAME, bundled_values
from edfi_api.model.surface.resource import ResourceName, Surface


def bundled_descriptors(surface: Surface, folder: Path) -> Iterator[Candidate[str]]:
    """The values in this standard's folder, for the descriptors of the surface; none if it has no such file."""
    for value in bundled_values(folder):
        resource = surface.by_name[ResourceName(surface.core_project.name, value.descriptor)]
        yield Candidate.of(resource, value.body, f"{FILE_NAME}:{value.line}")
