"""The files of JSON Lines and CSV that an operator means, and what their names say about the lines.

`students.jsonl`, `ed-fi.students.jsonl.gz`: named after an endpoint, with its project where two projects have one of
that name; each line is a body. `students.csv`: each row is a body. Any other name, and standard input: each line
carries its resource, `{"resource": "/ed-fi/students", "body": {...}}`.
"""

import errno
import gzip
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import cast

from edfi_api.features.loading.exceptions import NoLinesFound, ResourceNotServed, UnreadableFile
from edfi_api.features.loading.files import files_at, open_counted, size
from edfi_api.features.loading.renames import NO_RENAMES, Renames
from edfi_api.model.surface.resource import ProjectFacts, Resource, Surface

STANDARD_INPUT = "-"
_SUFFIX = re.compile(r"\.(jsonl|ndjson|csv)(\.gz)?$", re.IGNORECASE)
_CSV = re.compile(r"\.csv(\.gz)?$", re.IGNORECASE)

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Source:
    """A file, or standard input where there is no path; `resource` is what every line is a body of, if known."""

    path: Path | None
    resource: Resource | None

    def __str__(self) -> str:
        return STANDARD_INPUT if self.path is None else str(self.path)

    @property
    def named_after(self) -> str | None:
        """The resource, if that is what the name of the file is; None for standard input."""
        return None if self.path is None else _SUFFIX.sub("", self.path.name)

    @property
    def is_csv(self) -> bool:
        return self.path is not None and _CSV.search(self.path.name) is not None

    @contextmanager
    def open(self, on_read: Callable[[int], None] = lambda _: None) -> Iterator[BufferedReader]:
        """`on_read` is called with the number of bytes of each part that is read from a file."""
        if self.path is None:
            yield _standard_input()
        else:
            with open_counted(self.path, on_read) as file:
                yield file

    @property
    def size(self) -> int:
        """Return the size in bytes; 0 where it is not known."""
        return 0 if self.path is None else size(self.path)


def _standard_input() -> BufferedReader:
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    return cast(BufferedReader, sys.stdin.buffer)


def sources(
    surface: Surface, paths: Iterable[str], resource: Resource | None = None, renames: Renames = NO_RENAMES
) -> list[Source]:
    """Files as named, folders as the JSON Lines and CSV in and below them by name; each file once. A `resource` given
    counts more than names.

    Raises NoSuchPath, or NoLinesFound if there is no file at all.
    """
    paths = list(paths)
    found = dict.fromkeys(path for named in paths for path in _paths(named))
    if not found:
        raise NoLinesFound(paths)
    return [Source(path, resource or _resource_in_name(surface, path, renames)) for path in found]


def resource_called(surface: Surface, name: str, renames: Renames = NO_RENAMES) -> Resource:
    """Return the resource by endpoint (`students`), with its project (`ed-fi.students`) or as in URLs
    (`/ed-fi/students`); of several projects with that endpoint, the core's. An unknown one by its new name. Raises
    UnknownResource.
    """
    project, _, endpoint = name.strip("/").replace("/", ".").rpartition(".")
    projects = [project] if project else [facts.endpoint for facts in _core_first(surface)]
    for called in (endpoint, renames.renamed(endpoint)):
        for candidate in projects:
            if found := surface.resource_at(f"{candidate}/{called}"):
                return found
    raise ResourceNotServed(name)


def _core_first(surface: Surface) -> list[ProjectFacts]:
    return sorted(surface.projects, key=lambda facts: facts.is_extension)


def _paths(named: str) -> Sequence[Path | None]:
    return [None] if named == STANDARD_INPUT else files_at(Path(named), _SUFFIX.search)


def _resource_in_name(surface: Surface, path: Path | None, renames: Renames) -> Resource | None:
    stem = _SUFFIX.sub("", path.name) if path is not None else ""
    try:
        return resource_called(surface, stem, renames)
    except ResourceNotServed:
        return None


def lines(file: BufferedReader, longest: int) -> Iterator[tuple[int, bytes | None]]:
    """Number and text of each line that is not blank, without its end; None for one of more than `longest` bytes.

    Raises UnreadableFile where the compressed data is damaged or ends early.
    """
    number = 0
    reader = uncompressed(file)
    with report_damaged_gzip(lambda: number + 1):
        while line := reader.readline(longest + 1):
            number += 1
            if is_too_long := len(line) > longest and not line.endswith(b"\n"):
                _skip_line(reader, longest)
            text = (line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line).strip()
            if text:
                yield number, None if is_too_long else text


@contextmanager
def report_damaged_gzip(line: Callable[[], int]) -> Iterator[None]:
    """Raise UnreadableFile at this line where compressed data is damaged or ends early."""
    try:
        yield
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise UnreadableFile(line(), f"damaged gzip: {error}") from error


def uncompressed(file: BufferedReader) -> BufferedReader | gzip.GzipFile:
    """The file itself, or what it holds as gzip."""
    return gzip.GzipFile(fileobj=file) if file.peek(2).startswith(_GZIP_MAGIC) else file


def _skip_line(reader: BufferedReader | gzip.GzipFile, step: int) -> None:
    while (rest := reader.readline(step)) and not rest.endswith(b"\n"):
        pass
