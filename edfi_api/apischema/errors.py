"""What is raised when an ApiSchema file cannot be used."""

from __future__ import annotations

from pathlib import Path


class ApiSchemaError(Exception):
    """The text is one paragraph for a person and names the file and the place in it."""

    def __init__(self, file: Path, path: str, message: str) -> None:
        super().__init__(f"{file}: {path}: {message}")
