"""The answer to a batch: results as they come, in memory up to a megabyte and in a temporary file beyond that."""

from collections.abc import Iterator, Mapping
from tempfile import SpooledTemporaryFile
from typing import Any

import orjson
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase

from edfi_api.api.batch.body import LINES
from edfi_api.api.viewsets.responses import FinishedResponse
from edfi_api.documents import json_text

_JSON = "application/json; charset=utf-8"
_MOST_IN_MEMORY = 2**20
_BLOCK = 2**16


class Answer:
    """The results of a batch, as an array or as lines. To be sent or closed."""

    def __init__(self, is_lines: bool) -> None:
        self._is_lines = is_lines
        self._file = SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115

    def add(self, members: Mapping[str, Any]) -> None:
        """Add a result, or the summary."""
        self._write(_text(members))

    def _write(self, text: bytes) -> None:
        if not self._is_lines:
            self._file.write(b"," if self._file.tell() else b"[")
        self._file.write(text)
        if self._is_lines:
            self._file.write(b"\n")

    def response(self) -> HttpResponseBase:
        """With everything that has been added; closes the answer when it is sent."""
        if not self._is_lines:
            self._file.write(b"]")
        length = self._file.tell()
        headers = {"Content-Type": LINES if self._is_lines else _JSON, "Content-Length": str(length)}
        self._file.seek(0)
        if length > _MOST_IN_MEMORY:
            return StreamingHttpResponse(_blocks(self._file), headers=headers)
        with self._file:
            return FinishedResponse(self._file.read(), 200, headers)

    def close(self) -> None:
        self._file.close()


class SortedAnswer(Answer):
    """Results come in any order and are answered by position; the summary comes last."""

    def __init__(self, is_lines: bool) -> None:
        super().__init__(is_lines)
        self._unsorted = SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115
        # By position: where the text begins, and its length.
        self._places: dict[int, tuple[int, int]] = {}

    def add(self, members: Mapping[str, Any]) -> None:
        if "index" not in members:
            for _, (start, length) in sorted(self._places.items()):
                self._unsorted.seek(start)
                self._write(self._unsorted.read(length))
            return super().add(members)
        text = _text(members)
        self._places[members["index"]] = self._unsorted.tell(), len(text)
        self._unsorted.write(text)
        return None

    def response(self) -> HttpResponseBase:
        self._unsorted.close()
        return super().response()

    def close(self) -> None:
        self._unsorted.close()
        super().close()


def _text(members: Mapping[str, Any]) -> bytes:
    return orjson.dumps(members, default=json_text.exact_number)


def _blocks(file: SpooledTemporaryFile[bytes]) -> Iterator[bytes]:
    with file:
        while block := file.read(_BLOCK):
            yield block
