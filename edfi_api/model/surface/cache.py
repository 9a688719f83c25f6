"""A disk cache of compiled models, so that later process starts do not compile again.

The file name is a hash of everything that the content depends on, including the compiler's own code, and the file has a
digest of its content. A stale cache has another name and a damaged one fails the digest; both lead to a new build.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import msgspec

from edfi_api.model import metaed, surface

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
    """The result of `build` for these folders and files, from the cache if it has a valid and current entry.

    `type_` is the type of cached values, `code` are the packages that `build` depends on. Without a cache folder every
    call builds. Raises what `build` raises. A cache that cannot be written only costs time.
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
    """SHA-256 over the projects' files and the compiler's, each with its name and length to keep them distinct."""
    digest = hashlib.sha256()
    for place in (*(Path(folder) for package in code for folder in package.__path__), *paths):
        for file in _files(place):
            content = file.read_bytes()
            digest.update(f"{file.relative_to(place)}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


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
    """Write atomically, because other processes can start concurrently."""
    body = _encoder.encode(value)
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        unfinished = Path(folder) / file.name
        unfinished.write_bytes(hashlib.sha256(body).digest() + body)
        unfinished.replace(file)
