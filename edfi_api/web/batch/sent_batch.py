"""What a batch is sent as: the parameters in its query string, and a body with its operations.

The body is received whole, then divided into the texts of its operations without parsing them: a parser would need many
times the memory of the text. It is kept in memory up to a megabyte, and in a temporary file beyond that. Of each
operation only its place in the body is kept, so memory grows by a few bytes for each.
"""

import mmap
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from tempfile import SpooledTemporaryFile
from typing import IO

import orjson
from django.http import HttpRequest, QueryDict

from edfi_api.common.conf import api_settings
from edfi_api.common.memory import cost_of_json
from edfi_api.common.request_body import BodyUnreadable, codings_of, decoded, utf8_blocks
from edfi_api.core.documents.exceptions import MalformedJson, UnreadableText
from edfi_api.core.queries.listing import Field, one_of, read_filters
from edfi_api.web.problem_details.http_exceptions import BatchTooLarge, UnsupportedMediaType

_MOST_IN_MEMORY = 2**20
_MOST_MAPPED = 4 * 2**20
_BLOCK = 2**16
_ARRAY = "application/json"
LINES = "application/x-ndjson"
_LINES = frozenset({LINES, "application/ndjson", "application/jsonl", "application/x-jsonlines"})
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{},"]', re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_OPENING, _CLOSING, _QUOTE = (b"[", b"{"), (b"]", b"}"), b'"'


class Mode(StrEnum):
    """The mode of a batch: a refused operation undoes all others, or not."""

    ATOMIC = "atomic"
    INDEPENDENT = "independent"


class Order(StrEnum):
    """The order of a batch: operations are executed as given, or in an order in which they can be written."""

    GIVEN = "given"
    FREE = "free"


class Return(StrEnum):
    """The choice of the results that are answered."""

    ALL = "all"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a batch."""

    mode: Mode = Mode.ATOMIC
    order: Order = Order.GIVEN
    returned: Return = Return.ALL

    @property
    def is_atomic(self) -> bool:
        return self.mode is Mode.ATOMIC


@dataclass(slots=True)
class BatchLimits:
    """The limits of a batch: when it ends, by the monotonic clock, and how many bytes the operations may cost that are
    carried out together.
    """

    end: float
    memory: int


_FIELDS = (Field("mode", "", one_of(Mode)), Field("order", "", one_of(Order)), Field("return", "", one_of(Return)))


def read_parameters(query: QueryDict) -> Parameters:
    """Raises UnknownQueryField for the first unknown name, ParameterValidationFailed for all unusable values."""
    others = None if api_settings.IGNORE_UNKNOWN_PARAMETERS else ()
    values = {each.field.name: each.value for each in read_filters(_FIELDS, query, others).or_failed_validation()}
    return Parameters(
        Mode(values.get("mode", Mode.ATOMIC)),
        Order(values.get("order", Order.GIVEN)),
        Return(values.get("return", Return.ALL)),
    )


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
            yield from _elements(self._file.read())
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
    for start, length in _elements(text):
        yield start, length
        if start - unmapped >= _MOST_MAPPED:
            text.madvise(mmap.MADV_DONTNEED, unmapped, _MOST_MAPPED)
            unmapped += _MOST_MAPPED


def has_lines(content_type: str) -> bool:
    """Return whether a body of this type has an operation in each line. Raises UnsupportedMediaType."""
    declared = content_type.partition(";")[0].strip().lower()
    if declared not in _LINES and declared != _ARRAY:
        raise UnsupportedMediaType
    return declared in _LINES


def answers_in_lines(accept: str, body_is_lines: bool) -> bool:
    """Return whether the answer has a result in each line: as the body has operations, unless `Accept` names exactly
    one of the two forms."""
    named = {each.partition(";")[0].strip().lower() for each in accept.split(",")}
    wants_lines, wants_array = bool(named & _LINES), _ARRAY in named
    return body_is_lines if wants_lines == wants_array else wants_lines


def receive_body(request: HttpRequest, is_lines: bool) -> Body:
    """The whole body in UTF-8, not divided yet. Raises UnsupportedCoding, UnsupportedCharset, BatchTooLarge,
    MalformedJson."""
    codings = codings_of(request)
    content_type = request.META.get("CONTENT_TYPE", "")
    # Lines that cannot be read are refused by themselves.
    blocks = utf8_blocks(decoded(_blocks(request), codings), content_type, is_checked=not is_lines)
    file = SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115  `Body` closes it.
    try:
        _store(blocks, file)
    except BodyUnreadable as error:
        file.close()
        raise UnreadableText(error.reason) from error
    except BaseException:
        file.close()
        raise
    return Body(file, is_lines)


def _store(blocks: Iterator[bytes], file: IO[bytes]) -> None:
    limit, size = api_settings.BATCH_BYTES, 0
    for block in blocks:
        size += len(block)
        if size > limit:
            raise BatchTooLarge("BATCH_BYTES", limit)
        file.write(block)


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
            if size > api_settings.BATCH_BYTES:
                raise BatchTooLarge("BATCH_BYTES", api_settings.BATCH_BYTES)
            yield block
    except OSError as error:
        raise MalformedJson("the body did not come as announced") from error
    if size < announced:
        raise MalformedJson("the body did not come as announced")


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


def _elements(text: bytes | mmap.mmap) -> Iterator[tuple[int, int]]:
    """Start and length of each element of a JSON array, by the brackets and commas outside of strings. Raises
    MalformedJson, possibly after some elements, if the text has not the form of an array; whether the elements are JSON
    is not checked here."""
    start = _behind_space(text, 0)
    if text[start : start + 1] != b"[":
        raise _no_array()
    depth, position = 0, 0
    for token in _TOKEN.finditer(text, start):
        sign = text[token.start() : token.start() + 1]
        if sign in _OPENING:
            depth += 1
            if depth == 1:
                start = position = token.end()
        elif sign == _QUOTE:
            if token.end() == token.start() + 1:
                break  # The string has no end.
        elif depth == 1 and sign in (b",", b"]"):
            is_empty = _behind_space(text, start) == token.start()
            if is_empty and not (sign == b"]" and start == position):
                raise MalformedJson("an element of the array is missing")
            if not is_empty:
                yield start, token.start() - start
            start = token.end()
            if sign == b"]":
                if _behind_space(text, start) != len(text):
                    break
                return
        elif sign in _CLOSING:
            depth -= 1
    raise _no_array()


def _behind_space(text: bytes | mmap.mmap, start: int) -> int:
    found = _SPACE.match(text, start)
    return found.end() if found else start


def _no_array() -> MalformedJson:
    return MalformedJson("a JSON array of operations is expected")
