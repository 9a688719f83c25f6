"""Rows of a table, by a template → documents, with the cells that each of their values comes from."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from edfi_api.core.documents import json_text
from edfi_api.features.loading.cells import NoSuchColumn, Row, Steps, as_path, column_steps, put, with_arrays
from edfi_api.features.tables.exceptions import InvalidTemplate
from edfi_api.features.tables.members import Member, Members
from edfi_api.features.tables.reading import Header, column_letter, in_order
from edfi_api.features.tables.suggesting import COUNTED, DescriptorWords, NoDescriptor, bundled_words
from edfi_api.features.tables.template import MappedMember, Template
from edfi_api.web.admin_kit.titles import id_called

# In a path: the item that this row adds to the array of the document that rows with the same other members make.
EACH_ROW = "[]"
_ERRORS = re.compile(r"#(N/A|NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|SPILL!|CALC!|GETTING_DATA)")
_YES, _NO = frozenset({"yes", "y", "x", "1", "true", "t"}), frozenset({"no", "n", "0", "false", "f"})
_PERCENT = re.compile(r"\s*(-?\d{1,20}(?:[.,]\d{1,20})?)\s*%\s*", re.ASCII)
_MOST_ROWS_OF_DOCUMENT = 1_000
# The most names of organizations in a column, each of which is looked for once: a column with more is none of their
# names.
_LONGEST_NAME, _MOST_NAMES = 200, 1_000


class Problem(NamedTuple):
    """A problem of a row: the sentence, and the cell or the member that it is about, if that is known."""

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
    to be sent. A row that `is_left_out` is none, for the reason that its problem gives."""

    rows: list[int]
    body: dict[str, Any]
    places: dict[str, Place]
    problems: list[Problem] = field(default_factory=list)
    is_left_out: bool = False


@dataclass(frozen=True, slots=True)
class _Column:
    """A mapped member: the steps to it, in which -1 is the item of each row; `dates` is the order of its dates."""

    mapped: MappedMember
    member: Member
    steps: Steps
    number: int | None
    dates: str

    @property
    def has_own_text(self) -> bool:
        """Whether its value is that of a cell and of nothing else."""
        return self.number is not None and not self.mapped.default


class TableMapping:
    """A template applied to a table. Raises InvalidTemplate with everything that does not fit."""

    def __init__(self, template: Template, members: Members, header: Header, words: DescriptorWords) -> None:
        self._header = header
        self._words = words
        self._columns = list(_columns(template, members, header))
        self._adds_items = any(-1 in each.steps for each in self._columns)
        self._needed = _needed_cells(self._columns)
        self._ids: dict[tuple[str, str], Any] = {}
        self._names = [folded(COUNTED.sub("", name)) for name in header.columns]

    @property
    def members(self) -> dict[int, list[str]]:
        """The paths of members by the numbers of their columns, in the order of these."""
        found: dict[int, list[str]] = {}
        for each in self._columns:
            if each.number is not None:
                found.setdefault(each.number, []).append(each.mapped.member)
        return dict(sorted(found.items()))

    def documents(self, rows: Iterable[Row]) -> Iterator[MappedDocument]:
        """The documents of rows; successive rows that differ only in what each adds to an array are one document."""
        current: tuple[str, list[Row]] | None = None
        for row in rows:
            if reason := self.reason_to_leave_out(row):
                if current is not None:
                    yield self._document(current[1])
                    current = None
                yield MappedDocument([row.number], {}, {}, [Problem(reason, row.number)], is_left_out=True)
                continue
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

    def reason_to_leave_out(self, row: Row) -> str:
        """Return why a row is none of the table's own: people write totals below a list, and programs the header on
        each page; empty for all others."""
        texts = [folded(cell) for cell in row.cells]
        filled = [text for text in texts if text]
        if len(filled) > 1 and all(not text or text == name for text, name in zip(texts, self._names, strict=False)):
            return "It repeats the header, and is left out."
        if filled and 2 * len(filled) <= len(self._header.columns) + 1 and _is_total(filled[0]):
            return "It looks like a total below the list, and is left out."
        return ""

    def cells_of(self, path: str, document: MappedDocument) -> list[tuple[Place, str]]:
        """The cells of what a problem names by a path, `$.addresses[0].city` or `$.studentReference`, with the paths of
        their members, blank ones if there are no others; none if no column is mapped to it."""
        wanted = path.removeprefix("$").removeprefix(".")
        exact = [(place, name) for name, place in document.places.items() if name == wanted]
        if exact or not wanted:
            return exact
        beginnings = (f"{wanted}.", f"{wanted}[")
        below = [(place, name) for name, place in document.places.items() if name.startswith(beginnings)]
        return below or [
            (Place(document.rows[0], each.number), name)
            for each in self._columns
            if (name := as_path(max(step, 0) if isinstance(step, int) else step for step in each.steps)) == wanted
            or name.startswith(beginnings)
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
            blank = self._blank_objects(row)
            for each in self._columns:
                if (number and -1 not in each.steps) or any(place in blank for place in _objects_around(each.steps)):
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

    def _blank_objects(self, row: Row) -> set[Steps]:
        """The objects and items for which a row has nothing but constants: they are left out."""
        return {
            place for place, columns in self._needed.items() if not any(_text_of(column, row) for column in columns)
        }

    def _value(self, column: _Column, text: str) -> Any:
        """Return what a text is sent as: as it is, but for what has a meaning that the API does not know."""
        member = column.member
        if _ERRORS.fullmatch(text):
            return NoDescriptor(f"The cell has the error {text} in place of a value.")
        if member.descriptor is not None:
            return self._words.meaning(member.descriptor, text)
        if member.type == "boolean" and (word := text.strip().casefold()) in _YES | _NO:
            return word in _YES
        if member.format == "date":
            return in_order(text, column.dates)
        if member.type not in ("number", "integer"):
            return text
        number = _number(text)
        return number if number[:1].isdigit() or number[:1] in "+-." else self._id_called(member, number)

    def _id_called(self, member: Member, name: str) -> Any:
        """The id of the organization of this name, if the member is such an id; otherwise the text as it is."""
        last = member.path.rpartition(".")[2]
        if (last, name) not in self._ids:
            if len(name) > _LONGEST_NAME or len(self._ids) >= _MOST_NAMES:
                return name
            self._ids[last, name] = id_called(name, last, self._words.using)
        match self._ids[last, name]:
            case None:
                return name
            case str(found):
                return found
            case similar:
                are = f" There are: {'; '.join(similar)}." if similar else ""
                return NoDescriptor(f'No organization is called "{name}".{are}')


def _columns(template: Template, members: Members, header: Header) -> Iterator[_Column]:
    """Raises InvalidTemplate."""
    reasons: list[str] = []
    seen: set[str] = set()
    numbers = {folded(name): number for number, name in reversed(list(enumerate(header.columns)))}
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
        number = numbers.get(folded(mapped.column)) if mapped.column else None
        if mapped.column and number is None:
            reasons.append(f'{path}: there is no column "{mapped.column}".')
        elif not mapped.column and not mapped.value:
            reasons.append(f"{path}: it has neither a column nor a constant.")
        dates = mapped.dates or (number is not None and header.dates and header.dates[number]) or ""
        found.append(_Column(mapped, member, steps, number, dates))
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
    text = mapped.value if column.number is None else _part(row.cells[column.number], mapped.part)
    if mapped.values and text:
        text = _meaning(text, mapped.values)
    return text or mapped.default


def _part(text: str, part: str) -> str:
    """The part of a cell that a template names."""
    match part:
        case "before-comma":
            return text.partition(",")[0].strip()
        case "after-comma":
            return text.partition(",")[2].strip()
        case "first-word":
            return "".join(text.split(maxsplit=1)[:1])
        case "after-first-word":
            return "".join(text.split(maxsplit=1)[1:]).strip()
    return text


def _meaning(text: str, values: Mapping[str, str]) -> str:
    """Return what a table of values says of a text: an entry that has it in another case counts if there is none that
    has it as it is."""
    for wanted in (text, text.strip()):
        if wanted in values:
            return values[wanted]
    wanted = folded(text)
    return next((value for key, value in values.items() if folded(key) == wanted), text)


def _is_total(folded: str) -> bool:
    return any(
        folded.startswith(word) and not folded[len(word) :][:1].isalpha() for word in bundled_words()["rows"]["totals"]
    )


def _needed_cells(columns: Sequence[_Column]) -> dict[Steps, list[_Column]]:
    """The columns of each object or item that has constants as well."""
    with_constants = {place for each in columns if not each.has_own_text for place in _objects_around(each.steps)}
    found: dict[Steps, list[_Column]] = {}
    for each in columns:
        for place in _objects_around(each.steps) if each.has_own_text else ():
            if place in with_constants:
                found.setdefault(place, []).append(each)
    return found


def _objects_around(steps: Steps) -> Iterator[Steps]:
    """The places of the objects and arrays in the body that a value is in."""
    return (steps[:number] for number in range(1, len(steps)))


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


def folded(text: str) -> str:
    """A text as names of columns are compared."""
    return " ".join(text.split()).casefold()
