"""What is compiled from a model, on disk, so that the next start of a process need not compile.

The file is named after everything that its content depends on, the compiler's own code included, and carries a digest
of its content: whatever is stale has another name, whatever is damaged is not believed, and both are built anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import msgspec

from edfi_api import metaed, surface

CODE_PACKAGES = (metaed, surface)
CODE_AND_SOURCE_SUFFIXES = frozenset({".py", ".lark", ".metaed"})
MANIFEST = "package.json"

T = TypeVar("T")

_DIGEST_SIZE = hashlib.sha256().digest_size
_encoder = msgspec.msgpack.Encoder()


def load_or_build(
    type_: type[T],
    paths: Sequence[Path],
    cache_dir: Path | None,
    *,
    build: Callable[[Sequence[Path]], T],
    code: Sequence[ModuleType] = CODE_PACKAGES,
) -> T:
    """What `build` makes of these folders and files; from the cache if it is there, whole and up to date.

    `type_` is what can be read from the cache, `code` are the packages that `build` depends on. Without a folder for
    the cache every call builds. Raises what `build` raises. A cache that cannot be written costs time, not the start.
    """
    if cache_dir is None:
        return build(paths)
    file = cache_dir / f"{type_.__name__.lower()}-{fingerprint(paths, code)}.msgpack"
    cached = _read(file, type_)
    if cached is not None:
        return cached
    built = build(paths)
    with contextlib.suppress(OSError):
        _write(file, built)
    return built


def fingerprint(paths: Iterable[Path], code: Iterable[ModuleType] = CODE_PACKAGES) -> str:
    """SHA-256 over the projects' files and the compiler's, each with its name and length so that nothing can blend."""
    digest = hashlib.sha256()
    for place in (*_code_folders(code), *paths):
        for file in _files(place):
            content = file.read_bytes()
            digest.update(f"{file.relative_to(place)}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def _code_folders(code: Iterable[ModuleType]) -> Iterator[Path]:
    return (Path(folder) for package in code for folder in package.__path__)


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(file for file in place.rglob("*") if _counts(file))


def _counts(file: Path) -> bool:
    return file.suffix.lower() in CODE_AND_SOURCE_SUFFIXES or file.name == MANIFEST


def _read(file: Path, type_: type[T]) -> T | None:
    try:
        content = file.read_bytes()
    except OSError:
        return None
    digest, body = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
    return msgspec.msgpack.decode(body, type=type_) if hashlib.sha256(body).digest() == digest else None


def _write(file: Path, value: object) -> None:
    """Complete or not at all: other processes may start at the same moment."""
    body = _encoder.encode(value)
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        unfinished = Path(folder) / file.name
        unfinished.write_bytes(hashlib.sha256(body).digest() + body)
        unfinished.replace(file)
