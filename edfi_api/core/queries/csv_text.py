"""Rows as CSV for spreadsheets: RFC 4180, in UTF-8 with the mark by which spreadsheets recognize it."""

import csv
import io
from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import Any

from django.http import HttpRequest

CONTENT_TYPE = "text/csv; charset=utf-8"
# Django matches a type with parameters with one that has the same or none. Of equal ones it prefers the first.
_FORMS = ("application/json; charset=utf-8", CONTENT_TYPE)
# A spreadsheet takes cells that begin like this for formulas.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_BLOCK = 500
_MOST_IN_MEMORY = 2**20


def prefers_csv(request: HttpRequest) -> bool:
    """Return whether the client prefers CSV to JSON, by the quality values of `Accept` (RFC 9110 §12.5.1). JSON is the
    answer to a client that accepts neither."""
    return request.get_preferred_type(_FORMS) == CONTENT_TYPE


def csv_file(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> SpooledTemporaryFile[bytes]:
    """The whole text, which is on disk if it is long; its position is at the end. An answer is written before it is
    sent, so that a slow client does not occupy the database."""
    file: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115  The sender closes it.
    for block in csv_blocks(columns, rows):
        file.write(block)
    return file


def csv_blocks(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    """The text in blocks of some hundred rows."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    buffer.write("\ufeff")
    writer.writerow(columns)
    for number, row in enumerate(rows, start=1):
        writer.writerow([_cell(value) for value in row])
        if number % _BLOCK == 0:
            yield _taken(buffer)
    yield _taken(buffer)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULAS) and not isinstance(value, int) else text


def _taken(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode(errors="replace")
