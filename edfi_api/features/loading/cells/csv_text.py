"""Lines of CSV → rows of cells. Cells are separated by commas, semicolons or tabs, whichever the first lines have."""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

# Of two that separate as many lines, the first: commas are in texts as well.
_SEPARATORS = ("\t", ";", ",")
_QUOTED = re.compile(r'"[^"]*"?')


class Row(NamedTuple):
    """The cells of a row; `number` is the line where it begins."""

    number: int
    cells: list[str]


@dataclass
class NotCsv(Exception):
    """The text is not CSV from this line on."""

    line: int
    reason: str


def csv_rows(lines: Iterable[str], looked_at: int = 1) -> Iterator[Row]:
    """The rows of CSV (RFC 4180), those of blank cells too. The separator is the one that `looked_at` lines have, from
    the first one that is not blank on. Raises NotCsv."""
    remaining = iter(lines)
    blank: list[str] = []
    for line in remaining:
        blank.append(line)
        if line.strip(" \r\n,;\t\ufeff"):
            break
    first = blank[-1:] + list(islice(remaining, looked_at - 1))
    rows = csv.reader(chain(blank[:-1], first, remaining), delimiter=_separator(first))
    while True:
        number = rows.line_num + 1
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise NotCsv(number, f"not CSV: {error}") from error
        yield Row(number, cells)


def _separator(lines: Iterable[str]) -> str:
    counts = [_QUOTED.sub("", line) for line in lines]

    def fit(separator: str) -> tuple[int, int]:
        numbers = [line.count(separator) for line in counts]
        return sum(map(bool, numbers)), sum(numbers)

    best = max(_SEPARATORS, key=fit)
    return best if any(fit(best)) else ","
