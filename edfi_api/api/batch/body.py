"""The body of a batch: received whole, then divided into the texts of its operations without parsing them.

The body is kept in memory up to a megabyte, and in a temporary file beyond that. Of each operation only its place in
the body is kept, so memory grows by a few bytes for each.
"""

import mmap
import zlib
from array import array
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import IO

import orjson
from django.http import HttpRequest

from edfi_api.api.batch import json_elements
from edfi_api.conf import api_settings
from edfi_api.documents.exceptions import MalformedJson
from edfi_api.memory import cost_of_json
from edfi_api.problem_details.http_exceptions import BatchTooLarge, UnsupportedMediaType

_MOST_IN_MEMORY = 2**20
_MOST_MAPPED = 4 * 2**20
_BLOCK = 2**16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ARRAY = "application/json"
LINES = "application/x-ndjson"
_LINES = frozenset({LINES, "application/ndjson", "application/jsonl", "application/x-jsonlines"})
_ANY_WINDOW = 16 + zlib.MAX_WBITS  # A gzip header, and the largest window.


class Body:
    """The texts of the operations of a batch, by position. To be closed."""

    def __init__(self, file: SpooledTemporaryFile[bytes], is_lines: bool) -> None:
        self.is_lines = is_lines
        self._file = file
        # Two numbers for each text: where it begins, and its length.
        self._places = array("Q")
        # The estimated bytes in memory of each operation that is carried out.
        self.costs = array("Q")

    def __len__(self) -> int:
        return len(self._places) // 2

    @property
    def is_single(self) -> bool:
        """One operation is atomic by itself: a transaction around it would only take time."""
        return len(self) == 1

    def divide(self, most: int, setting: str) -> None:
        """Find the operations. Raises BatchTooLarge for more than `most` of them, MalformedJson."""
        for start, length in self._found():
            if len(self) == most:
                raise BatchTooLarge(setting, most)
            self._places.extend((start, length))

    def _found(self) -> Iterator[tuple[int, int]]:
        size = self._file.tell()
        self._file.seek(0)
        if self.is_lines:
            yield from _lines(self._file)
        elif size <= _MOST_IN_MEMORY:
            yield from json_elements.places(self._file.read())
        else:
            with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                yield from _with_little_mapped(text)

    def length(self, position: int) -> int:
        """The number of bytes of a text."""
        return self._places[2 * position + 1]

    def estimate_costs(self, longest: int) -> None:
        """Estimate what each operation costs in memory; texts above `longest` are never decoded."""
        for position in range(len(self)):
            self.costs.append(cost_of_json(self.text(position)) if self.length(position) <= longest else 0)

    def text(self, position: int) -> bytes:
        self._file.seek(self._places[2 * position])
        return self._file.read(self.length(position))

    def refuse_malformed_elements(self, most_bytes: int) -> None:
        """An array with an element that is no JSON is no JSON itself: raise MalformedJson. Longer elements than
        `most_bytes` are refused by themselves, and are not looked at."""
        for position in range(len(self)):
            if self.length(position) <= most_bytes:
                try:
                    orjson.loads(self.text(position))
                except orjson.JSONDecodeError as error:
                    raise MalformedJson(f"element {position}: {error}") from error

    def close(self) -> None:
        self._file.close()


def _with_little_mapped(text: mmap.mmap) -> Iterator[tuple[int, int]]:
    """The places in a mapped file, of which little counts as memory of the process at a time."""
    unmapped = 0
    for start, length in json_elements.places(text):
        yield start, length
        if start - unmapped >= _MOST_MAPPED:
            text.madvise(mmap.MADV_DONTNEED, unmapped, _MOST_MAPPED)
            unmapped += _MOST_MAPPED


def is_lines(content_type: str) -> bool:
    """Whether a body of this type has an operation in each line. Raises UnsupportedMediaType."""
    declared = content_type.partition(";")[0].strip().lower()
    if declared not in _LINES and declared != _ARRAY:
        raise UnsupportedMediaType
    return declared in _LINES


def answers_in_lines(accept: str, body_is_lines: bool) -> bool:
    """Whether the answer has a result in each line: as the body has operations, unless `Accept` names exactly one of
    the two forms."""
    named = {each.partition(";")[0].strip().lower() for each in accept.split(",")}
    wants_lines, wants_array = bool(named & _LINES), _ARRAY in named
    return body_is_lines if wants_lines == wants_array else wants_lines


def received(request: HttpRequest) -> Body:
    """The whole body, not divided yet. Raises UnsupportedMediaType, BatchTooLarge, MalformedJson."""
    body_is_lines = is_lines(request.META.get("CONTENT_TYPE", ""))
    coding = request.META.get("HTTP_CONTENT_ENCODING", "identity").strip().lower()
    if coding not in ("identity", "gzip", "x-gzip", ""):
        raise UnsupportedMediaType
    blocks = _blocks(request)
    if "gzip" in coding:
        blocks = _decompressed(blocks)
    file = SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115  `Body` closes it.
    try:
        _store(blocks, file)
    except BaseException:
        file.close()
        raise
    return Body(file, body_is_lines)


def _store(blocks: Iterator[bytes], file: IO[bytes]) -> None:
    limit, size = api_settings.BATCH_BYTES, 0
    for block in blocks:
        size += len(block)
        if size > limit:
            raise BatchTooLarge("BATCH_BYTES", limit)
        file.write(block if file.tell() else block.removeprefix(_BYTE_ORDER_MARK))


def _blocks(request: HttpRequest) -> Iterator[bytes]:
    is_chunked = "HTTP_TRANSFER_ENCODING" in request.META
    announced = 0 if is_chunked else int(request.META.get("CONTENT_LENGTH") or 0)
    if announced > api_settings.BATCH_BYTES:
        raise BatchTooLarge("BATCH_BYTES", api_settings.BATCH_BYTES)
    source = request.META["wsgi.input"] if is_chunked else request
    size = 0
    try:
        while block := source.read(_BLOCK):
            size += len(block)
            yield block
    except OSError as error:
        raise MalformedJson("the body did not come as announced") from error
    if size < announced:
        raise MalformedJson("the body did not come as announced")


def _decompressed(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """In blocks of bounded size, however well they are compressed."""
    decompressor = zlib.decompressobj(_ANY_WINDOW)
    try:
        for block in blocks:
            rest = block
            while rest:
                yield decompressor.decompress(rest, _BLOCK)
                rest = decompressor.unconsumed_tail
                if decompressor.eof:
                    # A file may consist of several members (RFC 1952 §2.2).
                    rest = decompressor.unused_data
                    decompressor = zlib.decompressobj(_ANY_WINDOW)
    except zlib.error as error:
        raise MalformedJson(f"it is not gzip data: {error}") from error
    yield decompressor.flush()


def _lines(file: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Start and length of each line that is not blank, without its end."""
    start = length = 0
    is_blank = True
    while piece := file.readline(_MOST_IN_MEMORY):
        length += len(piece)
        is_blank = is_blank and not piece.strip()
        if piece.endswith(b"\n"):
            if not is_blank:
                yield start, length - 1
            start, length, is_blank = start + length, 0, True
    if not is_blank:
        yield start, length
