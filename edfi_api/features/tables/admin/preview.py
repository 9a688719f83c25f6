"""The first rows of a table as documents, tried as the client would write them, with each problem at its cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import orjson

from edfi_api.features.tables.jobs import OpenedLoad, database_of, loader_of
from edfi_api.features.tables.loading import REFUSED, RowResult
from edfi_api.features.tables.mapping import MappedDocument, Problem
from edfi_api.features.tables.reading import column_letter

ROWS = 10


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell of a mapped column, with what is wrong with it."""

    name: str
    text: str
    problems: Sequence[Problem]


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row with its mapped cells, what is wrong without a cell, and the document that begins with it."""

    number: int
    outcome: str
    cells: Sequence[ShownCell]
    others: Sequence[Problem]
    document: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The mapped columns, by name and member, and rows. `refused` is the number of those that would be refused."""

    columns: Sequence[tuple[str, str]]
    rows: Sequence[ShownRow]
    refused: int


def preview_of(opened: OpenedLoad) -> Preview:
    """Try the first rows. Raises UnreadableTable, InvalidTemplate, and what `database_of` does."""
    load = opened.load
    rows = list(islice(opened.table.rows(), ROWS))
    with database_of(load.client_id, load.data_store) as leased:
        loader, mapping = loader_of(opened, leased.using, is_dry_run=True)
        documents = list(mapping.documents(rows))
        results = {each.row: each for chunk in loader.results(documents) for each in chunk}
    columns = opened.table.header.columns
    begun = {each.rows[0]: each for each in documents}
    shown = [
        ShownRow(
            row.number,
            results[row.number].outcome,
            [_cell(columns[number], number, row.cells[number], results[row.number]) for number in mapping.members],
            [each for each in results[row.number].problems if not each.column],
            _text(begun.get(row.number)),
        )
        for row in rows
    ]
    heads = [(columns[number], ", ".join(members)) for number, members in mapping.members.items()]
    return Preview(heads, shown, sum(row.outcome == REFUSED for row in shown))


def _cell(name: str, number: int, text: str, result: RowResult) -> ShownCell:
    letter = column_letter(number)
    return ShownCell(name, text, [each for each in result.problems if each.column == letter])


def _text(document: MappedDocument | None) -> str:
    return "" if document is None else orjson.dumps(document.body, option=orjson.OPT_INDENT_2).decode(errors="replace")
