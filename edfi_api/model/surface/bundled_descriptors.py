"""The descriptor values bundled with a data standard, from `descriptors.csv` in the folder of its MetaEd files.

A line is `descriptor,codeValue,shortDescription,namespace`; an empty short description repeats the code value, an
empty namespace is `uri://ed-fi.org/{descriptor}`.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FILE_NAME = "descriptors.csv"
# The maximum length of a descriptor's short description.
_SHORT_DESCRIPTION_LENGTH = 75


class DescriptorValue(NamedTuple):
    """A line of the file, which has the number `line`."""

    descriptor: str
    code_value: str
    short_description: str
    namespace: str
    line: int

    @property
    def uri(self) -> str:
        return f"{self.namespace}#{self.code_value}"

    @property
    def body(self) -> dict[str, str]:
        """Return the descriptor as a document."""
        return {
            "namespace": self.namespace,
            "codeValue": self.code_value,
            "shortDescription": self.short_description,
        }


def bundled_values(folder: Path) -> Iterator[DescriptorValue]:
    """The values in the folder of a standard, in the order of the file; none if it has no such file."""
    path = folder / FILE_NAME
    if not path.is_file():
        return
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        for row in reader:
            yield DescriptorValue(
                descriptor=row["descriptor"],
                code_value=row["codeValue"],
                short_description=row["shortDescription"] or row["codeValue"][:_SHORT_DESCRIPTION_LENGTH],
                namespace=row["namespace"] or descriptor_namespace(row["descriptor"]),
                line=reader.line_num,
            )


def descriptor_namespace(descriptor: str) -> str:
    """The namespace of the values that Ed-Fi publishes."""
    return f"uri://ed-fi.org/{descriptor}"
