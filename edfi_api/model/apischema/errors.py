"""The exception for unusable ApiSchema files."""

from __future__ import annotations

from pathlib import Path


class ApiSchemaError(Exception):
    """The text is one readable paragraph with the file and the JSON path in it."""

    def __init__(self, file: Path, path: str, message: str) -> None:
        super().__init__(f"{file}: {path}: {message}")
