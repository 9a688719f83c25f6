"""XML schemas of the bundled standards and of small texts."""

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from lxml import etree

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.xsd.files import schema_files
from edfi_api.model.xsd.schema_file import SchemaFile, SchemaFiles

# The standards whose published files are known.
PUBLISHED_STANDARDS = ("3.3.1-b", "5.2")
CORE, ANNOTATION = "Ed-Fi-Core.xsd", "SchemaAnnotation.xsd"
EXTENDED_CORE = "EXTENSION-Ed-Fi-Extended-Core.xsd"

# Required by the schema of any core: the base type of descriptors refers to them.
SHARED_STRINGS = """
Shared String ShortDescription max length 75
Shared String Description max length 1024
Shared String URI min length 5 max length 255
"""

# The root elements of files by their names.
Schemas = dict[str, Any]
SchemasOf = Callable[..., Schemas]


def parsed(files: Iterable[SchemaFile]) -> Schemas:
    return {file.name: etree.fromstring(file.content) for file in files}


@cache
def bundled(standard: str) -> SchemaFiles:
    return schema_files(compile_projects([BUNDLED_STANDARDS / standard]))


def saved(files: Iterable[SchemaFile], folder: Path) -> Path:
    """Writes the files to the folder, as a client that downloads them."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        (folder / file.name).write_bytes(file.content)
    return folder


def loaded(folder: Path) -> dict[str, etree.XMLSchema]:
    """All files of a folder as schemas, by name. Raises XMLSchemaParseError."""
    return {path.name: etree.XMLSchema(etree.parse(path)) for path in sorted(folder.glob("*.xsd"))}
