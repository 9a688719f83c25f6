"""Pages of the admin that are tables of figures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse

from edfi_api.web.admin_kit.readable_values import timestamp


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, number or time, None for nothing; with an address it is a link. A text may stand for a number."""

    value: Any
    address: str = ""
    stands_for_number: bool = False

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, int) or self.stands_for_number

    @property
    def shown(self) -> Any:
        if isinstance(self.value, datetime):
            return timestamp(self.value)
        return "-" if self.value is None else self.value


@dataclass(frozen=True, slots=True)
class PageTable:
    """Rows below heads; `empty` stands in place of no rows."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    empty: str

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """Each head, and whether numbers are below it."""
        return [(head, any(row[place].is_number for row in self.rows)) for place, head in enumerate(self.heads)]


def cells(*values: Any) -> list[Cell]:
    """A row; values that are no cells become such without a link."""
    return [each if isinstance(each, Cell) else Cell(each) for each in values]


def filtered(list_name: str, filters: Mapping[str, Any]) -> str:
    """The address of a list with these filters; `list_name` is the name of its route."""
    return f"{reverse(list_name)}?{urlencode(filters, safe='/')}"


def tables_page(
    request: HttpRequest,
    site: AdminSite,
    tables: Iterable[PageTable],
    *,
    title: str,
    above: Cell,
    choices: Sequence[Cell] = (),
) -> TemplateResponse:
    """A page below the list `above`. `choices` are links to others of its kind; the one without address is chosen."""
    own = {"title": title, "list": above, "tables": list(tables), "choices": choices}
    return TemplateResponse(request, "edfi_api/tables.html", {**site.each_context(request), **own})
