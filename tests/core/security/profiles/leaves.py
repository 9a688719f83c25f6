"""The leaves of bodies and of their schemas."""

from collections.abc import Iterator
from typing import Any


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all scalars of a body, without array indexes."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from leaves(each, (*path, name))
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each, path)
    else:
        yield path


def schema_leaves(schema: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all scalars that a JSON schema describes."""
    match schema["type"]:
        case "object":
            for name, each in schema["properties"].items():
                yield from schema_leaves(each, (*path, name))
        case "array":
            yield from schema_leaves(schema["items"], path)
        case _:
            yield path
