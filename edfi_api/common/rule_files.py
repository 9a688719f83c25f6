"""Files of rules: members in TOML, which have the shape of a struct, those that all rules of a folder share, and
functions in Python that a decorator marks with an attribute.

A field of the struct is annotated with `msgspec.Meta`, whose description says what its value has to be. Decorators do
not register anything globally, so the order of imports does not matter.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta

# The file of a folder that has the members that its rules share.
SHARED = "rules.toml"

NOT_EMPTY = "a text that is not empty"
Text = Annotated[str, Meta(min_length=1, description=NOT_EMPTY)]
Standards = Annotated[tuple[str, ...], Meta(description='a list of versions, such as ["5.2"]')]


class NotToml(Exception):
    """A file is not TOML, or cannot be read; the text says why."""


def read_toml(path: Path) -> dict[str, Any]:
    """Return the members of a file. Raises NotToml."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise NotToml(f"not TOML: {error}") from error


def shared_members(folder: Path) -> dict[str, Any]:
    """Return the members that the rules of the folder share, if it has any. Raises NotToml."""
    path = folder / SHARED
    return read_toml(path) if path.is_file() else {}


def problems_of_members(members: Mapping[str, Any], shape: type[msgspec.Struct]) -> Iterator[str]:
    """The problems of the members, one for each of them."""
    fields = {each.name: each for each in msgspec.structs.fields(shape)}
    for name in sorted(members.keys() - fields.keys()):
        yield f"unknown member {name!r}"
    for name, each in fields.items():
        if name not in members:
            if each.required:
                yield f"{name!r} is missing"
            continue
        try:
            msgspec.convert(members[name], each.type)
        except msgspec.ValidationError:
            yield f"{name!r} has {_difference(members[name], each.type)}"


def _difference(value: Any, type_: Any) -> str:
    meta = next(each for each in get_args(type_)[1:] if isinstance(each, Meta))
    if isinstance(value, str) and meta.max_length and len(value) > meta.max_length:
        return f"{len(value)} characters, of at most {meta.max_length}"
    return f"to be {meta.description}"


def marked_functions(module: ModuleType, mark: str) -> list[FunctionType]:
    """Return the functions with the mark that the module defines, without imported ones."""
    return [each for each in vars(module).values() if hasattr(each, mark) and each.__module__ == module.__name__]
