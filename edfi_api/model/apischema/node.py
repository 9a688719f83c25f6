"""A JSON value with its place in a file, for error messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from edfi_api.common.shape_errors import reason_and_path

T = TypeVar("T")

_PLAIN_NAME = re.compile(r"[\w$-]+")


class ApiSchemaError(Exception):
    """The text is one readable paragraph with the file and the JSON path in it."""

    def __init__(self, file: Path, path: str, message: str) -> None:
        super().__init__(f"{file}: {path}: {message}")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its JSON path."""

    file: Path
    path: str
    value: Any

    def read(self, shape: type[T]) -> T:
        """The value converted to this type; unknown members are ignored. Raises ApiSchemaError."""
        try:
            return msgspec.convert(self.value, shape)
        except msgspec.ValidationError as error:
            reason, path = reason_and_path(error)
            raise ApiSchemaError(self.file, self.path + path.removeprefix("$"), reason) from None

    def members(self) -> Iterator[Node]:
        """The members of an object, one node each."""
        return (self / name for name in self.read(dict[str, Any]))

    def items(self) -> Iterator[Node]:
        """The items of an array, one node each."""
        return (Node(self.file, f"{self.path}[{i}]", item) for i, item in enumerate(self.read(list[Any])))

    def __truediv__(self, name: str) -> Node:
        """The node of an existing member."""
        step = f".{name}" if _PLAIN_NAME.fullmatch(name) else f"[{json.dumps(name)}]"
        return Node(self.file, self.path + step, self.value[name])

    def warning(self, message: str) -> str:
        """A readable line about this value."""
        return f"{self.file}: {self.path}: warning: {message}"

    def refusal(self, message: str) -> ApiSchemaError:
        """The exception to raise about this value."""
        return ApiSchemaError(self.file, self.path, message)


def read_file(file: Path) -> Node:
    """The whole content of a file."""
    try:
        return Node(file, "$", msgspec.json.decode(file.read_bytes()))
    except OSError as error:
        raise ApiSchemaError(file, "$", f"cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ApiSchemaError(file, "$", f"not JSON: {error}") from None
    except RecursionError:
        raise ApiSchemaError(file, "$", "nested too deep") from None
