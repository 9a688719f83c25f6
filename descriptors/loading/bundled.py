"""The descriptor values bundled with a data standard, from `descriptors.csv` beside its MetaEd files.

A line is `descriptor,codeValue,shortDescription,namespace`; an empty short description repeats the code value, an
empty namespace is `uri://ed-fi.org/{descriptor}`.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

from edfi_api.loading.bulk import Candidate
from edfi_api.model.surface.resource import ResourceName, Surface

FILE_NAME = "descriptors.csv"
# The maximum length of a descriptor's short description.
_SHORT_DESCRIPTION_LENGTH = 75


def bundled_descriptors(surface: Surface, folder: Path) -> Iterator[Candidate[str]]:
    """The values in this standard's folder, for the descriptors of the surface; none if it has no such file."""
    path = folder / FILE_NAME
    if not path.is_file():
        return
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        for row in reader:
            resource = surface.by_name[ResourceName(surface.core_project.name, row["descriptor"])]
            yield Candidate.of(resource, _body(row), f"{path.name}:{reader.line_num}")


def _body(row: dict[str, str]) -> dict[str, str]:
    return {
        "namespace": row["namespace"] or f"uri://ed-fi.org/{row['descriptor']}",
        "codeValue": row["codeValue"],
        "shortDescription": row["shortDescription"] or row["codeValue"][:_SHORT_DESCRIPTION_LENGTH],
    }
