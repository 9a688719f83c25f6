"""Rows of a table, by a template → documents, with the cells that each of their values comes from."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from edfi_api.core.documents import json_text
from edfi_api.features.loading.cells import NoSuchColumn, Row, Steps, as_path, column_steps, put, with_arrays
from edfi_api.features.tables.descriptor_words import DescriptorWords, NoDescriptor
from edfi_api.features.tables.exceptions import InvalidTemplate
from edfi_api.features.tables.members import Member, Members
from edfi_api.features.tables.reading import Header, column_letter
from edfi_api.features.tables.template import MappedMember, Template

# In a path: the item that this row adds to the array of the document that rows with the same other members make.
EACH_ROW = "[]"
_ERRORS = re.compile(r"#(N/A|NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|SPILL!|CALC!|GETTING_DATA)")
_YES, _NO = frozenset({"yes", "y", "x", "1", "true", "t"}), frozenset({"no", "n", "0", "false", "f"})
_PERCENT = re.compile(r"\s*(-?\d{1,20}(?:[.,]\d{1,20})?)\s*%\s*", re.ASCII)
_MOST_ROWS_OF_DOCUMENT = 1_000


class Problem(NamedTuple):
    """What is wrong with a row: the sentence, and the cell or the member that it is about, if that is known."""

    text: str
    row: int
    column: str = ""
    header: str = ""
    member: str = ""
    hint: str = ""

    @property
    def cell(self) -> str:
        """`C7`; the row alone if no cell is known."""
        return f"{self.column}{self.row}"


class Place(NamedTuple):
    """The cell of a value: the number of the row, and that of the column from 0; None for a constant."""

    row: int
    column: int | None


@dataclass(slots=True)
class MappedDocument:
    """A document, the numbers of the rows it comes from, and its cells by the paths of members. With problems it is not
    to be sent."""

    rows: list[int]
    body: dict[str, Any]
    places: dict[str, Place]
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Column:
    """A mapped member: the steps to it, in which -1 is the item of each row."""

    mapped: MappedMember
    member: Member
    steps: Steps
    number: int | None


class TableMapping:
    """A template applied to a table. Raises InvalidTemplate with everything that does not fit."""

    def __init__(self, template: Template, members: Members, header: Header, words: DescriptorWords) -> None:
        self._header = header
        self._words = words
        self._columns = list(_columns(template, members, header))
        self._adds_items = any(-1 in each.steps for each in self._columns)

    @property
    def members(self) -> dict[int, str]:
        """The paths of members by the numbers of their columns, in the order of these."""
        found = {each.number: each.mapped.member for each in self._columns if each.number is not None}
        return dict(sorted(found.items()))

    def documents(self, rows: Iterable[Row]) -> Iterator[MappedDocument]:
        """The documents of rows; successive rows that differ only in what each adds to an array are one document."""
        current: tuple[str, list[Row]] | None = None
        for row in rows:
            if not self._adds_items:
                yield self._document([row])
                continue
            key = self._key(row)
            if current is not None and current[0] == key and len(current[1]) < _MOST_ROWS_OF_DOCUMENT:
                current[1].append(row)
                continue
            if current is not None:
                yield self._document(current[1])
            current = key, [row]
        if current is not None:
            yield self._document(current[1])

    def cells_of(self, path: str, document: MappedDocument) -> list[tuple[Place, str]]:
        """The cells of what a problem names by a path, `$.addresses[0].city` or `$.studentReference`, with the paths of
        their members; none if no column is mapped to it."""
        wanted = path.removeprefix("$").removeprefix(".")
        exact = [(place, name) for name, place in document.places.items() if name == wanted]
        if exact or not wanted:
            return exact
        return [
            (place, name) for name, place in document.places.items() if name.startswith((f"{wanted}.", f"{wanted}["))
        ]

    def problem(self, text: str, place: Place, member: str, hint: str = "") -> Problem:
        """A problem of a cell."""
        if place.column is None:
            return Problem(text, place.row, member=member, hint=hint)
        column = column_letter(place.column)
        return Problem(text, place.row, column, self._header.columns[place.column], member, hint)

    def _key(self, row: Row) -> str:
        fixed = (each for each in self._columns if -1 not in each.steps)
        return json_text.dumps([_text_of(each, row) for each in fixed]).decode()

    def _document(self, rows: Sequence[Row]) -> MappedDocument:
        body: dict[Any, Any] = {}
        cells: list[tuple[Steps, Place]] = []
        document = MappedDocument([row.number for row in rows], {}, {})
        for number, row in enumerate(rows):
            for each in self._columns:
                if number and -1 not in each.steps:
                    continue
                steps = tuple(number if step == -1 else step for step in each.steps)
                place = Place(row.number, each.number)
                text = _text_of(each, row)
                if not text:
                    continue
                value = self._value(each, text)
                if isinstance(value, NoDescriptor):
                    document.problems.append(self.problem(value.reason, place, as_path(steps)))
                    continue
                put(body, steps, value)
                cells.append((steps, place))
        document.body = with_arrays(body)
        document.places = {as_path(steps): place for steps, place in _with_final_indexes(cells)}
        if not document.body and not document.problems:
            document.problems.append(Problem("None of the mapped columns has a value.", rows[0].number))
        return document

    def _value(self, column: _Column, text: str) -> Any:
        """What a text is sent as: as it is, but for what has a meaning that the API does not know."""
        member = column.member
        if _ERRORS.fullmatch(text):
            return NoDescriptor(f"The cell has the error {text} in place of a value.")
        if member.descriptor is not None:
            return self._words.meaning(member.descriptor, text)
        if member.type == "boolean" and (word := text.strip().casefold()) in _YES | _NO:
            return word in _YES
        return _number(text) if member.type in ("number", "integer") else text


def _columns(template: Template, members: Members, header: Header) -> Iterator[_Column]:
    """Raises InvalidTemplate."""
    reasons: list[str] = []
    seen: set[str] = set()
    numbers = {_folded(name): number for number, name in reversed(list(enumerate(header.columns)))}
    found = []
    for mapped in template.columns:
        path = mapped.member.strip()
        try:
            steps = _steps(path, members)
        except NoSuchColumn as error:
            reasons.append(f"{path or 'a member without a name'}: {error.reason}.")
            continue
        member = members.at(0 if step == -1 else step for step in steps)
        if as_path(steps) in seen or member is None:
            reasons.append(f"{path} is mapped twice." if member else f"{path}: it cannot be mapped.")
            continue
        seen.add(as_path(steps))
        number = numbers.get(_folded(mapped.column)) if mapped.column else None
        if mapped.column and number is None:
            reasons.append(f'{path}: there is no column "{mapped.column}".')
        elif not mapped.column and not mapped.value:
            reasons.append(f"{path}: it has neither a column nor a constant.")
        found.append(_Column(mapped, member, steps, number))
    if len({each.steps[: each.steps.index(-1)] for each in found if -1 in each.steps}) > 1:
        reasons.append(f"Each row can add an item ({EACH_ROW}) to one array only.")
    if reasons or not found:
        raise InvalidTemplate(reasons or ["No member is mapped."])
    yield from found


def _steps(path: str, members: Members) -> Steps:
    """The steps of a path, in which -1 stands for the item of each row. Raises NoSuchColumn."""
    if path.count(EACH_ROW) > 1:
        raise NoSuchColumn(f"{EACH_ROW} can occur once")
    before, is_there, _ = path.partition(EACH_ROW)
    steps = column_steps(path.replace(EACH_ROW, "[0]"), members.resource)
    if not is_there:
        return steps
    place = len(_parts_of(before))
    return (*steps[:place], -1, *steps[place + 1 :])


def _parts_of(path: str) -> list[str]:
    """The names and indexes at the beginning of a path."""
    return re.findall(r"[^.\[\]]+|\[\d+\]", path)


def _number(text: str) -> str:
    """A number without blanks around it; of a percentage the number that it means, 0.95 for 95 %."""
    found = _PERCENT.fullmatch(text)
    return text.strip() if found is None else format(Decimal(found[1].replace(",", ".")) / 100, "f")


def _text_of(column: _Column, row: Row) -> str:
    """The text of a cell, or what counts in its place; empty for none."""
    mapped = column.mapped
    text = mapped.value if column.number is None else row.cells[column.number]
    if mapped.values and text:
        text = mapped.values.get(text, mapped.values.get(text.strip(), text))
    return text or mapped.default


def _with_final_indexes(cells: Iterable[tuple[Steps, Place]]) -> Iterator[tuple[Steps, Place]]:
    """The steps in the body, from which items without values have been left out."""
    found = list(cells)
    indexes: dict[Steps, set[int]] = {}
    for steps, _ in found:
        for number, step in enumerate(steps):
            if isinstance(step, int):
                indexes.setdefault(steps[:number], set()).add(step)
    ordered = {place: {index: number for number, index in enumerate(sorted(each))} for place, each in indexes.items()}
    for steps, place in found:
        final = [ordered[steps[:number]][step] if isinstance(step, int) else step for number, step in enumerate(steps)]
        yield tuple(final), place


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
