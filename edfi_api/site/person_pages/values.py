"""The values of a layout in the documents that were read: texts, and the documents to which they lead."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from edfi_api.core.documents.paths import values_at
from edfi_api.model.surface.resource import ResourceName
from edfi_api.site.person_pages.documents import Documents, Read
from edfi_api.site.person_pages.layout import MOST_HOPS, Block, Column, Way, Ways
from edfi_api.web.admin_kit.readable_values import text_of


@dataclass(frozen=True, slots=True)
class Found:
    """A value: a text, or else the document whose title is shown; `document` is where its link leads."""

    text: str
    document: Read | None = None


@dataclass(frozen=True, slots=True)
class ShownFurther:
    """A further document in a cell."""

    document: Read
    label: str
    found: Found


class Values:
    """The values that blocks show of their rows. Reads the further documents at once, and then for all of them the
    targets of references, a step at a time."""

    def __init__(self, documents: Documents, rows: Iterable[tuple[Block, list[Read]]]) -> None:
        self._targets: dict[UUID, Read] = {}
        self._unknown: set[UUID] = set()
        cells = [(block, row) for block, those in rows for row in those]
        wanted = {pair for block, row in cells for column in block.columns for pair in _wanted(column, row)}
        self._further = documents.further(sorted(wanted))
        for _ in range(MOST_HOPS):
            self._unknown = set()
            for block, row in cells:
                for column in block.columns:
                    self.of(column, row)
            if not self._unknown:
                break
            self._targets |= documents.targets(self._unknown)

    @property
    def documents(self) -> list[Read]:
        """The targets of references."""
        return list(self._targets.values())

    @property
    def further_documents(self) -> list[Read]:
        """The documents that refer to rows, or to documents that rows refer to."""
        return [each for those in self._further.values() for each in those]

    def of(self, column: Column, row: Read) -> Found | None:
        """Return the value of a column without further documents; None if there is none."""
        if column.further is not None:
            for each in self.further(column, row):
                self._first(column.further.label, each.document)
            return None
        found = self._first(column.value, row)
        if found and column.link and (target := row.target(column.link)):
            return Found(found.text, self._at(target))
        return found

    def further(self, column: Column, row: Read) -> list[ShownFurther]:
        """Return the further documents of a column that have a value."""
        of = column.further
        found = []
        for pair in _wanted(column, row):
            for document in self._further.get(pair, ()):
                value = self._first(column.value, document)
                if of and value and document.refers(of.reference, pair[0]):
                    label = self._first(of.label, document)
                    found.append(ShownFurther(document, label.text if label else "", value))
        return found

    def _first(self, ways: Ways, row: Read) -> Found | None:
        return next((found for way in ways if (found := self._found(way, row))), None)

    def _found(self, way: Way, row: Read) -> Found | None:
        current: Read | None = row
        for reference in way.references:
            target = current.target(reference) if current else None
            current = self._at(target) if target else None
        if current is None:
            return None
        if target := current.target(way.member):
            return Found("", found) if (found := self._at(target)) else None
        text = ", ".join(dict.fromkeys(_texts(current, way.member)))
        return Found(text) if text else None

    def _at(self, target: UUID) -> Read | None:
        found = self._targets.get(target)
        if found is None:
            self._unknown.add(target)
        return found


def _wanted(column: Column, row: Read) -> Iterator[tuple[UUID, ResourceName]]:
    """The identity, and the resource whose documents refer to it."""
    if column.further is None:
        return
    beside = column.further.beside
    identity = row.target(beside) if beside else row.own_id
    if identity is not None:
        yield identity, column.further.resource


def _texts(row: Read, member: tuple[str, ...]) -> Iterator[str]:
    for _, value in values_at(row.body, member):
        if text := text_of(member[-1], value):
            yield text
