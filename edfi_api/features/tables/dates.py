"""Dates in which day and month may change places, 8/9/2026: the other cells of their column say which of them is first.

A file has been written by one program. So a column in which no cell tells has the order of the other columns.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date

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
