"""The finished files of XML schemas, apart from what writes them: a server only hands them out.

Files are kept compressed: those of a standard are a megabyte of text, and a tenth of that as they are kept.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A file by its name; `compressed` is its content with gzip."""

    name: str
    compressed: bytes

    @property
    def content(self) -> bytes:
        return gzip.decompress(self.compressed)


@dataclass(frozen=True)
class SchemaFiles:
    """The files of a data standard, and by the name of the extension those that are its own, both in order of name.

    An extension's annotation schema takes the place of the core's. `warnings` say why a project has no files, and what
    processors may object to.
    """

    core: tuple[SchemaFile, ...] = ()
    extensions: dict[str, tuple[SchemaFile, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def of(self, project: str) -> tuple[SchemaFile, ...]:
        """All files that belong together for a project, the core's first. The core's alone for any other name."""
        own = {file.name: file for file in self.extensions.get(project, ())}
        core = tuple(own.pop(file.name, file) for file in self.core)
        return (*core, *own.values())
