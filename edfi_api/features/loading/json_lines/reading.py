"""Sources of JSON Lines and CSV → texts of bodies. A line that cannot be read is reported, and the next one is read.

Bodies are not parsed here but where they are prepared, in several processes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from typing import Any

import msgspec

from edfi_api.common.logs.printable import counted
from edfi_api.core.documents import json_text
from edfi_api.core.storage.sets import REFUSALS
from edfi_api.features.loading.bulk import Candidate
from edfi_api.features.loading.bulk.candidates import Place
from edfi_api.features.loading.cells import (
    NoSuchColumn,
    NotCsv,
    Steps,
    column_steps,
    csv_rows,
    put,
    with_arrays,
)
from edfi_api.features.loading.exceptions import (
    NamesNoResource,
    ResourceNotServed,
    UnreadableFile,
    UnreadableLine,
)
from edfi_api.features.loading.json_lines.sources import (
    Source,
    lines,
    report_damaged_gzip,
    resource_called,
    uncompressed,
)
from edfi_api.features.loading.mapping import Translator
from edfi_api.features.loading.renames import Renames
from edfi_api.features.loading.reports.results import RefusalReporter, Refused, no_such, reason_in_words
from edfi_api.model.surface.resource import Resource, Surface

_NO_RESOURCE = (
    'neither the line, by {"resource": "/ed-fi/students", "body": {...}}, nor the name of the file says what it is a '
    "document of"
)
_CSV_OF_NO_RESOURCE = "the name of the file is not that of a resource, as students.csv is, and --resource names none"


@dataclass(frozen=True, slots=True)
class SourceReader:
    """Reads the sources of one load, which are known by their number in it. `surface` is that of their documents."""

    surface: Surface
    sources: Sequence[Source]
    longest_line: int
    reporter: RefusalReporter
    renames: Renames
    mapping: Translator | None
    on_read: Callable[[int], None]

    def texts(self, number: int) -> Iterator[tuple[int, bytes]]:
        """Line numbers and texts of a source, to its end or to where it cannot be read any further."""
        source = self.sources[number]
        try:
            with source.open(self.on_read) as file:
                yield from self._rows(number, file) if source.is_csv else self._lines(number, file)
        except UnreadableFile as failure:
            self.reporter.report_unreadable(Refused(str(source), failure.line, None, failure.reason))
        except OSError as error:
            self.reporter.report_unreadable(Refused(str(source), None, None, error.strerror or str(error)))

    def _lines(self, number: int, file: BufferedReader) -> Iterator[tuple[int, bytes]]:
        for line, text in lines(file, self.longest_line):
            if text is None:
                self.refuse(number, line, self.sources[number].resource, f"longer than {self.longest_line} bytes")
            else:
                yield line, text

    def _rows(self, number: int, file: BufferedReader) -> Iterator[tuple[int, bytes]]:
        resource = self.sources[number].resource
        if resource is None:
            raise UnreadableFile(1, _CSV_OF_NO_RESOURCE)
        for line, body in _csv_bodies(file, resource, self.longest_line, self.renames):
            if isinstance(body, UnreadableLine):
                self.refuse(number, line, resource, body.reason)
            else:
                yield line, body

    def with_resources(self, number: int) -> Iterator[tuple[int, bytes, Resource]]:
        """Line numbers, texts of the bodies and resources of a source whose lines carry their resource.

        Where the first lines carry none, they are taken for bodies of a resource that the file is named after and that
        there is not.
        """
        named_after = self.sources[number].named_after
        for line, text in self.texts(number):
            try:
                wrapped = _wrapped(text)
                named_after = None
                resource = resource_called(self.surface, wrapped.resource, self.renames)
            except NamesNoResource as error:
                if named_after is None:
                    self.refuse(number, line, None, error.reason)
                else:
                    self._refuse_for_no_resource(number, line, named_after, _hint(named_after))
            except UnreadableLine as error:
                self.refuse(number, line, None, error.reason)
            except ResourceNotServed as error:
                self._refuse_for_no_resource(number, line, error.name)
            else:
                yield line, bytes(wrapped.body), resource

    def candidates(self, text: bytes, resource: Resource, place: Place) -> Iterator[Candidate[Place]]:
        """The documents that a line gives: one, or those of the mapping."""
        if self.mapping is None:
            yield Candidate(resource, self._renamed(text, resource), place)
            return
        try:
            body = json_text.parse_object(text)
        except REFUSALS as error:
            self.refuse(place.source, place.line, resource, reason_in_words(error))
            return
        for name, translated in self.mapping.translate(resource.name, body, self.reporter.result.unmapped):
            yield Candidate.of(self.mapping.after.by_name[name], translated, place)

    def _renamed(self, text: bytes, resource: Resource) -> bytes:
        """A body with renamed members; one that is not a JSON object stays as it is, and is refused later."""
        if not self.renames:
            return text
        try:
            return json_text.dumps(self.renames.body(json_text.parse_object(text), resource.json_schema))
        except REFUSALS:
            return text

    def refuse(self, source: int, line: int, resource: Resource | None, reason: str) -> None:
        name = resource.name if resource is not None else None
        self.reporter.report_refused(Refused(str(self.sources[source]), line, name, reason))

    def _refuse_for_no_resource(self, source: int, line: int, name: str, hint: str = "") -> None:
        reason = no_such("resource", name, self.surface) + hint
        self.reporter.report_refused(Refused(str(self.sources[source]), line, None, reason, is_of_no_resource=True))


def _hint(named_after: str) -> str:
    """A name with a project, as exports have, is that of a resource; any other may have nothing to do with one."""
    return "" if "." in named_after else ", and the lines name none"


class _Wrapped(msgspec.Struct):
    """A line that carries its resource; of the body no more is known than where it ends."""

    resource: str
    body: msgspec.Raw


def _wrapped(text: bytes) -> _Wrapped:
    try:
        return msgspec.json.decode(text, type=_Wrapped)
    except msgspec.ValidationError as error:
        raise NamesNoResource(_NO_RESOURCE) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableLine(f"not JSON: {error}") from error


# The first row has the paths of members of the resource. Cells are texts, which `documents.document_validator` brings
# into the types of the model as for any client; blanks in them count, but cells of blanks alone are absent members,
# and items of arrays without a value are left out.

_BYTE_ORDER_MARK = "\ufeff"
_NAMED_AT_MOST = 10


def _csv_bodies(
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
    with report_damaged_gzip(lambda: number + 1):
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
