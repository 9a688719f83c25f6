"""What is derived from the sources of a model: MetaEd projects and ApiSchema files."""

from dataclasses import dataclass
from pathlib import Path

from edfi_api.model.surface.resource import Surface
from edfi_api.model.xsd.schema_file import SchemaFiles


@dataclass(frozen=True)
class Compilation:
    """Everything derived from the model, which itself is discarded, and the warnings about ApiSchema files.

    `text_warnings` counts those about MetaEd text, without those about bundled text, which nobody else can mend.
    """

    surface: Surface
    schema_files: SchemaFiles
    warnings: tuple[str, ...] = ()
    text_warnings: int = 0


def is_api_schema(path: Path) -> bool:
    """Whether a source is an ApiSchema file rather than the folder of a MetaEd project."""
    return path.suffix.lower() == ".json"
