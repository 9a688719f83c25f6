"""A file in CSV or XLSX → its header and rows of texts. What users upload is not trusted: everything is bounded.

Cells are texts, as in CSV. A number of a spreadsheet is written as people read it: 604822, not 604822.0, and with the
leading zeros of its format; a date as 2026-08-20. Of a formula the value counts that was stored with it.
"""

import io
import re
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from itertools import chain, islice
from typing import IO, Any
from xml.parsers import expat

from edfi_api.features.loading.cells import NotCsv, Row, csv_rows
from edfi_api.features.tables.exceptions import UnreadableTable

DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
ORDERS = (DAY_FIRST, MONTH_FIRST)
_DATE = re.compile(r"\s*(\d{1,2})([./-])(\d{1,2})\2(\d{4})\s*", re.ASCII)
_MONTHS = 12


def orders_of_dates(rows: Iterable[Sequence[str]], width: int) -> tuple[str | None, ...]:
    """The order of the dates in each column: None without such dates, an empty text if no cell tells."""
    found: list[set[str] | None] = [None] * width
    for cells in rows:
        for number, cell in enumerate(cells[:width]):
            if (match := _DATE.fullmatch(cell)) is None:
                continue
            orders = found[number] = found[number] or set()
            if int(match[1]) > _MONTHS:
                orders.add(DAY_FIRST)
            if int(match[3]) > _MONTHS:
                orders.add(MONTH_FIRST)
    known = {order for orders in found if orders for order in orders}
    of_the_file = next(iter(known)) if len(known) == 1 else ""
    return tuple(None if orders is None else _order(orders, of_the_file) for orders in found)


def in_order(text: str, order: str) -> str:
    """A date of this order as 2026-08-20; any other text as it is."""
    if (match := _DATE.fullmatch(text)) is not None and order:
        day, month = (match[1], match[3]) if order == DAY_FIRST else (match[3], match[1])
        with suppress(ValueError):
            return date(int(match[4]), int(month), int(day)).isoformat()
    return text


def _order(orders: set[str], of_the_file: str) -> str:
    """Cells that contradict each other tell nothing."""
    if not orders:
        return of_the_file
    return next(iter(orders)) if len(orders) == 1 else ""


MOST_ROWS = 50_000
MOST_COLUMNS = 250
LONGEST_CELL = 30_000
# The most bytes of all parts of a spreadsheet together; a spreadsheet of the most rows and twenty columns has about as
# much.
_MOST_UNPACKED = 64 * 2**20
_MOST_PARTS = 2_000
# A spreadsheet ends here.
_LAST_ROW = 1_048_576
# Rows in which the header is looked for: titles may be above it.
_LOOKED_AT = 20
# Further rows, whose dates say whether their days or their months are first.
_WITH_DATES = 1_000
# A row is the header if it has so much of the most cells that a row has.
_SHARE_OF_HEADER = 0.6
_BLOCK = 4096
_ZIP, _OLE = b"PK", b"\xd0\xcf\x11\xe0"
_ZEROS = re.compile(r"0{2,}")
_DIGITS = 15
_DAMAGED = "The spreadsheet is damaged, or not of a kind that can be read. Save it again as .xlsx."


@dataclass(frozen=True, slots=True)
class Header:
    """The names of the columns of a table, each different, and the number of their row. `sheets` are the names of the
    sheets of a spreadsheet, `notes` what is to be known of how the file is read, `dates` what `orders_of_dates` says
    of the first rows."""

    row: int
    columns: tuple[str, ...]
    sheets: tuple[str, ...] = ()
    sheet: str = ""
    notes: tuple[str, ...] = ()
    dates: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A file that is read again for each iteration."""

    content: bytes
    header: Header

    def rows(self) -> Iterator[Row]:
        """The rows below the header that have a cell; all have as many cells as there are columns. Raises
        UnreadableTable at what is beyond the bounds."""
        width, count = len(self.header.columns), 0
        for row in _rows(self.content, self.header.sheet)[0]:
            if row.number <= self.header.row or not any(row.cells):
                continue
            count += 1
            if count > MOST_ROWS:
                raise UnreadableTable(f"A table has {MOST_ROWS:,} rows at most.", row.number)
            yield Row(row.number, row.cells[:width] + [""] * (width - len(row.cells)))


def open_table(content: bytes, sheet: str = "") -> Table:
    """The table of a file; of a spreadsheet the `sheet`, or the first one that is shown and has cells. Raises
    UnreadableTable."""
    rows, sheets, chosen, notes = _opened(content, sheet)
    first = list(islice((row for row in rows if any(row.cells)), _LOOKED_AT))
    if not first:
        raise UnreadableTable("There are no cells in it.")
    header = _header_among(first)
    columns = _names(header.cells, max(_width(row.cells) for row in first))
    below = (row.cells for row in chain(first, islice(rows, _WITH_DATES)) if row.number > header.number)
    return Table(content, Header(header.number, columns, sheets, chosen, notes, orders_of_dates(below, len(columns))))


def column_letter(number: int) -> str:
    """The letter of a column, which is counted from 0."""
    from openpyxl.utils import get_column_letter  # noqa: PLC0415  As in `_spreadsheet`.

    return str(get_column_letter(number + 1))


def _opened(content: bytes, sheet: str) -> tuple[Iterator[Row], tuple[str, ...], str, tuple[str, ...]]:
    rows, sheets, notes = _rows(content, sheet)
    if sheet or not sheets:
        return rows, sheets, sheet, notes
    for name in sheets:
        found, _, _ = _rows(content, name)
        for row in islice(found, _LAST_ROW):
            if any(row.cells):
                return _rows(content, name)[0], sheets, name, notes
    return iter(()), sheets, "", notes


def _rows(content: bytes, sheet: str) -> tuple[Iterator[Row], tuple[str, ...], tuple[str, ...]]:
    """The rows of a file, those of blank cells too, the names of its sheets, and notes."""
    if content.startswith(_OLE):
        raise UnreadableTable(
            "This is a spreadsheet in the old format .xls, or one with a password. Save it as .xlsx or CSV."
        )
    if content.startswith(_ZIP):
        rows, sheets = _spreadsheet(content, sheet)
        return rows, sheets, ()
    text, notes = _decoded(content)
    return _bounded(_of_csv(text)), (), notes


def _bounded(rows: Iterable[Row]) -> Iterator[Row]:
    for number, cells in rows:
        if len(cells) > MOST_COLUMNS:
            if _width(cells) > MOST_COLUMNS:
                raise UnreadableTable(f"A table has {MOST_COLUMNS} columns at most.", number)
            cells = cells[:MOST_COLUMNS]  # noqa: PLW2901  What is left out is blank.
        if any(len(cell) > LONGEST_CELL for cell in cells):
            raise UnreadableTable(f"A cell has {LONGEST_CELL:,} characters at most.", number)
        yield Row(number, cells)


def _decoded(content: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of a CSV file. Spreadsheets write UTF-8 with a mark, UTF-16 ("Unicode text"), or the code page of
    Windows. Raises UnreadableTable."""
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig")):
        if content.startswith(mark):
            try:
                return _checked(content.decode(encoding)), ()
            except UnicodeDecodeError:
                continue
    try:
        text = _checked(content.decode("cp1252"))
    except UnicodeDecodeError as error:
        raise UnreadableTable(
            "The characters are neither UTF-8 nor Windows-1252. Save it as CSV UTF-8 or .xlsx."
        ) from error
    return text, ("The file is not UTF-8 and was read as Windows-1252: look at accents below.",)


def _checked(text: str) -> str:
    if "\0" in text:
        raise UnreadableTable("This is neither CSV nor a spreadsheet (.xlsx).")
    return text


def _of_csv(text: str) -> Iterator[Row]:
    try:
        for number, cells in csv_rows(io.StringIO(text, newline=""), looked_at=_LOOKED_AT):
            yield Row(number, ["" if cell.isspace() else cell for cell in cells])
    except NotCsv as error:
        raise UnreadableTable(f"{error.reason[0].upper()}{error.reason[1:]}.", error.line) from error


def _spreadsheet(content: bytes, sheet: str) -> tuple[Iterator[Row], tuple[str, ...]]:
    # It takes 17 MB, which most processes never need.
    from openpyxl import load_workbook  # noqa: PLC0415

    _check_parts(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        sheets = tuple(each.title for each in book.worksheets if each.sheet_state == "visible")
    except Exception as error:  # The library meets what is damaged with any exception.
        raise UnreadableTable(_DAMAGED) from error
    if not sheets or (sheet and sheet not in sheets):
        raise UnreadableTable(f"There is no sheet {sheet}." if sheets else "There is no sheet in it.")
    return _bounded(_of_sheet(book[sheet or sheets[0]])), sheets


def _check_parts(content: bytes) -> None:
    """A small file may unpack to gigabytes, and XML may declare entities, which no spreadsheet program does. Python
    reads no more of a part than its entry in the archive says."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
            if len(parts) > _MOST_PARTS or sum(part.file_size for part in parts) > _MOST_UNPACKED:
                raise UnreadableTable(f"It unpacks to more than {_MOST_UNPACKED // 2**20} MB.")
            if "xl/workbook.xml" not in archive.namelist():
                raise UnreadableTable("This is neither CSV nor a spreadsheet (.xlsx).")
            for part in parts:
                with archive.open(part) as file:
                    _refuse_document_type(file)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
        raise UnreadableTable(_DAMAGED) from error


class _RootFound(Exception):
    """No document type can follow."""


def _refuse_document_type(file: IO[bytes]) -> None:
    """Read XML up to its first element. What is not XML is left to the library, which does not parse it either."""

    def refuse(*_: object) -> None:
        raise UnreadableTable("Its XML has a document type, as spreadsheets never have.")

    def end(*_: object) -> None:
        raise _RootFound

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = refuse, end
    with suppress(_RootFound, expat.ExpatError):
        while block := file.read(_BLOCK):
            parser.Parse(block)


def _of_sheet(sheet: Any) -> Iterator[Row]:
    sheet.reset_dimensions()  # Some programs write wrong ones.
    rows, number = sheet.iter_rows(), 0
    while True:
        number += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                cells = next(rows, None)
                found = None if cells is None else [_text(cell) for cell in cells[: MOST_COLUMNS + 1]]
                if cells is not None and any(cell.value is not None for cell in cells[MOST_COLUMNS + 1 :]):
                    raise UnreadableTable(f"A table has {MOST_COLUMNS} columns at most.", number)
        except UnreadableTable:
            raise
        except Exception as error:  # The library meets what is damaged with any exception.
            raise UnreadableTable(_DAMAGED, number) from error
        if found is None:
            return
        if number > _LAST_ROW:
            raise UnreadableTable(f"A table has {MOST_ROWS:,} rows at most.", number)
        yield Row(number, found)


def _text(cell: Any) -> str:
    """A cell as text; empty for one of blanks."""
    value = cell.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        text, form = _number(value), cell.number_format
        return text.zfill(len(form)) if isinstance(form, str) and _ZEROS.fullmatch(form) else text
    if isinstance(value, datetime | date | time):
        return _time(value)
    text = "" if value is None else str(value)
    return "" if text.isspace() else text.replace("_x000D_", "")


def _time(value: date | time) -> str:
    """Return a date in the form of ISO 8601; a day has no time."""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(timespec="seconds")
    return value.isoformat(timespec="seconds") if isinstance(value, time) else value.isoformat()


def _number(value: float) -> str:
    """Return a number with the digits that a spreadsheet has, and without an exponent: 604822, 0.95."""
    if isinstance(value, int):
        return str(value) if abs(value) < 10**_DIGITS else format(Decimal(value), "f")
    text = format(Decimal(format(value, f".{_DIGITS}g")), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _header_among(rows: Sequence[Row]) -> Row:
    """The first row that is about as wide as the others: titles above it are not."""
    most = max(_filled(row) for row in rows)
    return next(row for row in rows if _filled(row) >= most * _SHARE_OF_HEADER)


def _filled(row: Row) -> int:
    return sum(map(bool, row.cells))


def _width(cells: Sequence[str]) -> int:
    """Up to the last cell that is not blank."""
    return max((number for number, cell in enumerate(cells, start=1) if cell), default=0)


def _names(cells: Sequence[str], width: int) -> tuple[str, ...]:
    """A different name for each column: that of its header, or its letter; of equal ones the later ones are counted."""
    texts = [" ".join(cell.split()) for cell in chain(cells, [""] * (width - len(cells)))][:width]
    texts = [text or f"Column {column_letter(number)}" for number, text in enumerate(texts)]
    seen: Counter[str] = Counter()
    names = []
    for text in texts:
        seen[text] += 1
        names.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return tuple(names)
