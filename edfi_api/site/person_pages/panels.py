"""The blocks of the page of a person."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.core.documents.paths import values_at
from edfi_api.core.security.models import ApiClient
from edfi_api.core.storage.driver.execution import TookTooLong, time_limit
from edfi_api.features.changes.change_queries.versions_pages import versions_address
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.site.person_pages.calendar import Event, calendar_of
from edfi_api.site.person_pages.documents import (
    COUNTED,
    LOOKED_AT,
    MILLISECONDS,
    WORDS,
    Documents,
    Read,
    Write,
    identity_of,
    together,
    written_last,
)
from edfi_api.site.person_pages.layout import Block, Column, InvalidLayout, current_layout
from edfi_api.site.person_pages.values import Found, ShownFurther, Values
from edfi_api.web.admin_kit.document_panels import Panel, PanelOrder, Place, ShownDocument
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.admin_kit.list_filters import CHOSEN_RESOURCE
from edfi_api.web.admin_kit.readable_values import text_of, timestamp, written_timestamp
from edfi_api.web.admin_kit.tables import filtered
from edfi_api.web.admin_kit.titles import DocumentKey, Title, titles

_TEMPLATES = "admin/edfi_api/person"
_DOCUMENTS = "admin:edfi_api_document_changelist"
# Groups of writes, each of which is a line.
_LINES = 20
# Tables with more columns have the whole width.
_NARROW = 3
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def is_person(resource: Resource | None) -> bool:
    """Return whether the layout has blocks for documents of the resource."""
    try:
        return resource is not None and resource.name in current_layout()
    except InvalidLayout:
        return False


def person_panels(shown: ShownDocument) -> Iterator[Panel]:
    """Yield the blocks that the layout has for the document, and what was written last."""
    if shown.resource is None:
        return
    try:
        blocks = current_layout().get(shown.resource.name, ())
    except InvalidLayout as problem:
        yield _panel("person", "Layout", format_html("<p>The layout of this page cannot be used: {}</p>", problem))
        return
    person = identity_of(shown.resource, shown.document.body) if blocks else None
    if person is None:
        return
    try:
        with time_limit(MILLISECONDS, shown.using):
            page = _Page(shown, blocks, person)
    except TookTooLong:
        text = SafeString("<p>The database took too long to read what belongs to this person. Try again later.</p>")
        yield _panel("person", "Not read", text)
        return
    yield from page.panels()


@dataclass(frozen=True, slots=True)
class _More:
    """A link to the list of all documents of a kind."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class _Line:
    """Writes that are shown together."""

    at: SafeString | str
    what: str
    writer: str
    links: Sequence[tuple[str, Title]]


class _Page:
    """The contents of the page, after all statements in the database of the document."""

    def __init__(self, shown: ShownDocument, blocks: Sequence[Block], person: UUID) -> None:
        self._document = shown.document
        self._documents = documents = Documents(shown.using)
        rows, self._numbers = documents.of_person(person, _sizes(blocks))
        self._rows = [(block, _rows_of(block, rows, person)) for block in blocks]
        self._values = Values(documents, self._rows)
        self._writes, self._all_were_looked_at = written_last(shown.document, person, blocks, documents, shown.using)
        self._titles = self._titles_of_everything(shown.using)
        self._clients = self._names_of_clients()

    def panels(self) -> Iterator[Panel]:
        for block, rows in self._rows:
            if rows:
                yield self._calendar(block, rows) if block.calendar else self._table(block, rows)
        yield self._written()
        if empty := [block.heading for block, rows in self._rows if not rows]:
            text = format_html("<p>Nothing is stored about: {}.</p>", ", ".join(empty).lower())
            yield _panel("empty", "Not stored", text)

    def _table(self, block: Block, rows: Sequence[Read]) -> Panel:
        cells = [[self._cell(column, row) for column in block.columns] for row in rows]
        shown = [place for place, _ in enumerate(block.columns) if any(line[place] for line in cells)]
        table = {
            "heads": [block.columns[place].heading for place in shown],
            "rows": [
                {
                    "cells": [(block.columns[place].heading, line[place]) for place in shown],
                    "written": self._writer(row),
                    "versions": _versions(row),
                    "document": _address(row),
                    "kind": kind_in_words(row.resource.name.resource).singular,
                }
                for row, line in zip(rows, cells, strict=True)
            ],
            "more": list(self._more(block, rows)),
        }
        return _panel(block.name, block.heading, _rendered("rows", table), is_wide=len(shown) > _NARROW)

    def _calendar(self, block: Block, rows: Sequence[Read]) -> Panel:
        events = [(event, row) for row in rows if (event := _event(block, row))]
        looks = block.calendar.looks if block.calendar else {}
        calendar = calendar_of([event for event, _ in events], looks, timezone.localdate())
        listed = [
            {"event": event, "written": self._writer(row), "versions": _versions(row), "document": _address(row)}
            for event, row in events
        ]
        context = {"calendar": calendar, "events": listed, "more": list(self._more(block, rows))}
        return _panel(block.name, block.heading, _rendered("calendar", context))

    def _written(self) -> Panel:
        lines = [self._line(group) for group in together(self._writes)]
        note = "" if self._all_were_looked_at else f"Only {LOOKED_AT:,} of the documents about it were looked at."
        return _panel("written", "Written last", _rendered("written", {"lines": lines[:_LINES], "note": note}))

    def _line(self, group: Sequence[Write]) -> _Line:
        first = group[0]
        name = self._documents.name(first.type_number)
        kind = kind_in_words(name.resource).singular if name else "document"
        number = f" ({len(group)})" if len(group) > 1 else ""
        own = self._title(self._document.resource_type_id, self._document.natural_key).first
        links = [
            (
                versions_address(each.type_number, each.document_uuid),
                self._title(each.type_number, each.natural_key).without(own),
            )
            for each in group
        ]
        writer = f"{first.user} (admin)" if first.user else self._client(first.client)
        return _Line(timestamp(first.at), f"{kind} {WORDS[first.operation]}{number}", writer, links)

    def _cell(self, column: Column, row: Read) -> SafeString | str:
        if column.further is None:
            return self._shown(found) if (found := self._values.of(column, row)) else ""
        items = ((each.label, self._further(each)) for each in self._values.further(column, row))
        return format_html_join("", '<span class="further"><span class="quiet">{}</span> {}</span> ', items)

    def _shown(self, found: Found) -> SafeString | str:
        if found.document is None:
            return format_html('<span class="day">{}</span>', found.text) if _DAY.fullmatch(found.text) else found.text
        title = self._title(found.document.type_number, found.document.natural_key)
        name = title.first if len(found.document.resource.identity) == 1 else title
        return format_html('<a href="{}">{}</a>', _address(found.document), found.text or name)

    def _further(self, each: ShownFurther) -> SafeString | str:
        """A value with a link to the versions of its document, if it leads to no other one."""
        if each.found.document is not None:
            return self._shown(each.found)
        at, writer = written_timestamp(each.document.modified_at), self._client(each.document.modified_by)
        form = '<a href="{}" title="Written {} by {}">{}</a>'
        return format_html(form, _versions(each.document), at, writer, each.found.text)

    def _writer(self, row: Read) -> tuple[SafeString | str, str]:
        return timestamp(row.modified_at), self._client(row.modified_by)

    def _client(self, client: int | None) -> str:
        return self._clients.get(client or 0, "a command")

    def _more(self, block: Block, rows: Sequence[Read]) -> Iterator[_More]:
        for name in block.resources:
            number, shown = self._numbers.get(name, 0), sum(row.resource.name == name for row in rows)
            if number > shown:
                filters = {"refers_to": self._document.pk, CHOSEN_RESOURCE: self._documents.number(name)}
                text = f"{number - shown} more" if number <= COUNTED else f"more than {COUNTED - shown:,} more"
                yield _More(f"{text}: list them all", filtered(_DOCUMENTS, filters))

    def _title(self, type_number: int, natural_key: str) -> Title:
        return self._titles[type_number, natural_key]

    def _titles_of_everything(self, using: str) -> dict[tuple[int, str], Title]:
        keys = {(self._document.resource_type_id, str(self._document.natural_key))}
        keys |= {(each.type_number, each.natural_key) for each in self._values.documents}
        keys |= {(each.type_number, each.natural_key) for each in self._writes}
        listed = sorted(keys)
        named = titles([DocumentKey(self._documents.resource(number), key) for number, key in listed], using)
        return dict(zip(listed, named, strict=True))

    def _names_of_clients(self) -> dict[int, str]:
        rows = [row.modified_by for _, those in self._rows for row in those]
        further = [row.modified_by for row in self._values.further_documents]
        clients = {each for each in [*rows, *further, *(write.client for write in self._writes)] if each is not None}
        return dict(ApiClient.objects.filter(pk__in=clients).values_list("pk", "name"))


def _sizes(blocks: Iterable[Block]) -> dict[ResourceName, int]:
    """Return how many documents of each resource are read: a resource may be in several blocks."""
    sizes: dict[ResourceName, int] = {}
    for block in blocks:
        for name in block.resources:
            sizes[name] = max(sizes.get(name, 0), block.most)
    return sizes


def _rows_of(block: Block, rows: Iterable[Read], person: UUID) -> list[Read]:
    """The rows of a block, the latest first."""
    found = [row for row in rows if row.resource.name in block.resources and row.refers(block.reference, person)]
    return sorted(found, key=lambda row: (_text_at(row, block.sort), row.row), reverse=True)[: block.most]


def _event(block: Block, row: Read) -> Event | None:
    if block.calendar is None:
        return None
    try:
        day = date.fromisoformat(_text_at(row, block.calendar.day))
    except ValueError:
        return None
    return Event(day, _text_at(row, block.calendar.category))


def _text_at(row: Read, member: tuple[str, ...] | None) -> str:
    found = values_at(row.body, member) if member else ()
    return text_of(member[-1], found[0][1]) if member and found else ""


def _address(row: Read) -> str:
    return reverse("admin:edfi_api_document_change", args=[row.row])


def _versions(row: Read) -> str:
    return versions_address(row.type_number, row.document_uuid)


def _panel(name: str, heading: str, content: SafeString, *, is_wide: bool = False) -> Panel:
    return Panel(name, heading, content, Place.BODY, PanelOrder.OF_PERSON, is_wide)


def _rendered(name: str, context: Mapping[str, Any]) -> SafeString:
    return render_to_string(f"{_TEMPLATES}/{name}.html", dict(context))
