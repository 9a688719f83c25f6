"""Bytes → lines with their numbers, gunzipped where they are gzip; no line longer than a request's body may be."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader

from edfi_api.features.loading.json_lines.exceptions import UnreadableFile

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def lines(file: BufferedReader, longest: int) -> Iterator[tuple[int, bytes | None]]:
    """Number and text of each line that is not blank, without its end; None for one of more than `longest` bytes.

    Raises UnreadableFile where the compressed data is damaged or ends early.
    """
    number = 0
    reader = uncompressed(file)
    with damaged_gzip_reported(lambda: number + 1):
        while line := reader.readline(longest + 1):
            number += 1
            if is_too_long := len(line) > longest and not line.endswith(b"\n"):
                _skip_line(reader, longest)
            text = (line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line).strip()
            if text:
                yield number, None if is_too_long else text


@contextmanager
def damaged_gzip_reported(line: Callable[[], int]) -> Iterator[None]:
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
