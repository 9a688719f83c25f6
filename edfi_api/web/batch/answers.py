"""The answer to a batch: results as they come, in memory up to a megabyte.

What is longer is kept in a temporary file if nothing may be sent before the end, and is otherwise sent as it comes.
"""

from array import array
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from os import SEEK_END
from tempfile import SpooledTemporaryFile
from typing import Any, NamedTuple, Self

import orjson
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase

from edfi_api.core.documents import json_text
from edfi_api.web.batch.operations import Result
from edfi_api.web.batch.sent_batch import LINES
from edfi_api.web.viewsets.responses import FinishedResponse, file_blocks

_JSON = "application/json; charset=utf-8"
MOST_IN_MEMORY = 2**20
_BLOCK = 2**16
_MOST_NAMED = 100


class Answer:
    """The results of a batch, as an array or as lines. To be sent or closed."""

    def __init__(self, is_lines: bool) -> None:
        self._is_lines = is_lines
        self._is_empty = True
        self._file = SpooledTemporaryFile(MOST_IN_MEMORY)  # noqa: SIM115

    def add(self, members: Mapping[str, Any]) -> None:
        """Add a result."""
        self._write(_text(members))

    def skip(self, position: int) -> None:
        """Leave out the result of this operation."""

    def end(self, summary: Mapping[str, Any]) -> None:
        """Add the summary after all results."""
        self._write(_text(summary))
        if not self._is_lines:
            self._file.write(b"]")

    def _write(self, text: bytes) -> None:
        if not self._is_lines:
            self._file.write(b"[" if self._is_empty else b",")
        self._is_empty = False
        self._file.write(text)
        if self._is_lines:
            self._file.write(b"\n")

    @property
    def has_block(self) -> bool:
        """Whether there is enough to be sent."""
        return self._file.tell() >= _BLOCK

    def take(self) -> bytes:
        """Take what has been added since the last call."""
        self._file.seek(0)
        taken = self._file.read()
        self._file.seek(0)
        self._file.truncate()
        return taken

    def response(self) -> HttpResponseBase:
        """Return the response with everything, the summary included; closes the answer when it is sent."""
        length = self._file.tell()
        self._file.seek(0)
        if length > MOST_IN_MEMORY:
            headers = self._headers | {"Content-Length": str(length)}
            return StreamingHttpResponse(file_blocks(self._file), headers=headers)
        with self._file:
            return self.finished(self._file.read())

    def finished(self, text: bytes) -> HttpResponseBase:
        """Return the response with a text that is whole."""
        return FinishedResponse(200, self._headers | {"Content-Length": str(len(text))}, text)

    def streamed(self, blocks: Iterator[bytes], until_sent: ExitStack) -> HttpResponseBase:
        """Return the response with blocks that are still to come; `until_sent` is closed after them, or when the client
        has gone.
        """
        return StreamingHttpResponse(_Stream(blocks, until_sent), headers=self._headers)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Content-Type": LINES if self._is_lines else _JSON}

    def close(self) -> None:
        self._file.close()


class SortedAnswer(Answer):
    """Results come in any order and are answered by position."""

    def __init__(self, is_lines: bool) -> None:
        super().__init__(is_lines)
        self._unsorted = SpooledTemporaryFile(MOST_IN_MEMORY)  # noqa: SIM115
        # Two numbers for each position: where the text begins, counted from 1, 0 if there is none yet; and its length.
        # An array, because nearly all results of a long batch may wait for the first one.
        self._places = array("Q")
        # All results before this position are known.
        self._next = 0

    def add(self, members: Mapping[str, Any]) -> None:
        self._place(members["index"], _text(members))

    def skip(self, position: int) -> None:
        self._place(position, b"")

    def end(self, summary: Mapping[str, Any]) -> None:
        for position in range(self._next, len(self._places) // 2):
            self._write_placed(position)
        super().end(summary)

    def _place(self, position: int, text: bytes) -> None:
        missing = 2 * (position + 1) - len(self._places)
        self._places.extend([0] * missing)
        self._unsorted.seek(0, SEEK_END)
        self._places[2 * position] = self._unsorted.tell() + 1
        self._places[2 * position + 1] = len(text)
        self._unsorted.write(text)
        while self._write_placed(self._next):
            self._next += 1

    def _write_placed(self, position: int) -> bool:
        """Return whether there is a result at this position."""
        if 2 * position >= len(self._places) or not self._places[2 * position]:
            return False
        start, length = self._places[2 * position] - 1, self._places[2 * position + 1]
        if length:
            self._unsorted.seek(start)
            self._write(self._unsorted.read(length))
        return True

    def close(self) -> None:
        self._unsorted.close()
        super().close()


class _Stream:
    """The answer to a batch that is executed while it is sent. If the client has gone, no further block is made."""

    def __init__(self, blocks: Iterator[bytes], until_sent: ExitStack) -> None:
        self._blocks = blocks
        self._until_sent = until_sent

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        return next(self._blocks)

    def close(self) -> None:
        self._until_sent.close()


class _Failure(NamedTuple):
    """The JSON text of a result, a tenth of its members in memory."""

    position: int
    text: bytes


class Failures:
    """Collects the failed results of an atomic batch; keeps as many as are named in the problem."""

    def __init__(self) -> None:
        self.count = 0
        self.are_temporary = True
        self._own: list[_Failure] = []
        self._consequences: list[_Failure] = []

    def add(self, result: Result) -> None:
        self.count += 1
        self.are_temporary = self.are_temporary and result.is_temporary
        kept = self._own if result.caused_by is None else self._consequences
        kept.append(_Failure(result.operation.position, _text(result.members())))
        if len(kept) > 2 * _MOST_NAMED:
            kept[:] = _first(kept)

    def named(self) -> list[dict[str, Any]]:
        """The results of those that fail by themselves, by position, then of those that fail because others did."""
        named = [*_first(self._own), *_first(self._consequences)][:_MOST_NAMED]
        return [orjson.loads(failure.text) for failure in named]


def _first(failures: list[_Failure]) -> list[_Failure]:
    return sorted(failures)[:_MOST_NAMED]


def _text(members: Mapping[str, Any]) -> bytes:
    return orjson.dumps(members, default=json_text.exact_number)
