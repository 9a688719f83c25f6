"""CSV with dotted headers → bodies: `schoolReference.schoolId`, `addresses[0].city`, `_ext.sample.colour`.

The first row has the paths of members of the resource. Cells are texts, which `documents.document_validator` brings
into the types of the model as for any client; blanks in them count, but cells of blanks alone are absent members, and
items of arrays without a value are left out.
"""

from collections.abc import Iterator
from io import BufferedReader
from typing import Any

from edfi_api.common.logs.printable import counted
from edfi_api.core.documents import json_text
from edfi_api.features.loading.cells import (
    NoSuchColumn,
    NotCsv,
    Steps,
    column_steps,
    csv_rows,
    put,
    with_arrays,
)
from edfi_api.features.loading.json_lines.exceptions import UnreadableFile, UnreadableLine
from edfi_api.features.loading.json_lines.sources import damaged_gzip_reported, uncompressed
from edfi_api.features.loading.renames import Renames
from edfi_api.model.surface.resource import Resource

_BYTE_ORDER_MARK = "\ufeff"
_NAMED_AT_MOST = 10


def bodies(
    file: BufferedReader, resource: Resource, longest: int, renames: Renames
) -> Iterator[tuple[int, bytes | UnreadableLine]]:
    """The line where each row begins, and its body as JSON text or what is wrong with the row. Rows of blank cells are
    skipped. `longest` bounds the bytes of a line and of a row.

    Raises UnreadableFile at the first line if headers are wrong, naming them, and where the file is not CSV.
    """
    columns: list[Steps | None] | None = None
    try:
        for line, texts in csv_rows(_lines(file, longest)):
            cells = ["" if cell.isspace() else cell for cell in texts]
            if not any(cells):
                continue
            if columns is None:
                columns = _columns([cell.strip() for cell in cells], resource, line, renames)
            else:
                yield line, _body(cells, columns, longest)
    except NotCsv as error:
        raise UnreadableFile(error.line, error.reason) from error


def _lines(file: BufferedReader, longest: int) -> Iterator[str]:
    """Bytes that are no UTF-8 become surrogates, for which a row is refused."""
    number = 0
    reader = uncompressed(file)
    with damaged_gzip_reported(lambda: number + 1):
        while line := reader.readline(longest + 1):
            number += 1
            if len(line) > longest:
                raise UnreadableFile(number, f"longer than {longest} bytes")
            text = line.decode(errors="surrogateescape")
            yield text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text


def _columns(headers: list[str], resource: Resource, line: int, renames: Renames) -> list[Steps | None]:
    """The places of the columns; None for one without a header, which must be blank."""
    columns: list[Steps | None] = []
    wrong = []
    for header in headers:
        try:
            steps = column_steps(header, resource, renames) if header else None
        except NoSuchColumn as error:
            wrong.append(f"{header!r}: {error.reason}")
            continue
        if steps is not None and steps in columns:
            wrong.append(f"{header!r} occurs twice")
        columns.append(steps)
    if wrong:
        more = f"; and {len(wrong) - _NAMED_AT_MOST} more" if len(wrong) > _NAMED_AT_MOST else ""
        raise UnreadableFile(line, f"wrong headers: {'; '.join(wrong[:_NAMED_AT_MOST])}{more}")
    return columns


def _body(cells: list[str], columns: list[Steps | None], longest: int) -> bytes | UnreadableLine:
    if len(cells) != len(columns):
        return UnreadableLine(f"it has {counted(len(cells), 'cell')}, but there are {counted(len(columns), 'header')}")
    if sum(map(len, cells)) > longest:
        return UnreadableLine(f"longer than {longest} bytes")
    body: dict[Any, Any] = {}
    for number, (steps, cell) in enumerate(zip(columns, cells, strict=True), start=1):
        if not cell:
            continue
        if steps is None:
            return UnreadableLine(f"column {number} has a value but no header")
        put(body, steps, cell)
    try:
        return json_text.dumps(with_arrays(body))
    except (TypeError, UnicodeEncodeError):
        return UnreadableLine("it is not UTF-8")
