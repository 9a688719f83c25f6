"""CSV with dotted headers → bodies: `schoolReference.schoolId`, `addresses[0].city`, `_ext.sample.colour`.

The first row has the paths of members of the resource. Cells are texts, which `documents.incoming` brings into the
types of the model as for any client; blanks in them count, but cells of blanks alone are absent members, and items of
arrays without a value are left out.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import Any

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.printable import counted
from edfi_api.core.documents import json_text
from edfi_api.core.documents.other_names import OtherNames
from edfi_api.features.loading.json_lines.exceptions import UnreadableFile, UnreadableLine
from edfi_api.features.loading.json_lines.sources import damaged_gzip_reported, uncompressed
from edfi_api.features.loading.renames import Renames
from edfi_api.model.surface.naming import EXTENSIONS, bare_key
from edfi_api.model.surface.resource import ALL_ITEMS, Resource

_BYTE_ORDER_MARK = "\ufeff"
_HEADER = re.compile(r"[^.\[\]\s]+(\[\d{1,4}\])?(\.[^.\[\]\s]+(\[\d{1,4}\])?)*")
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_NAMED_AT_MOST = 10
# What spreadsheets write in place of commas.
_NO_SEPARATORS = {";": "semicolons", "\t": "tabs"}
# Member names, and indexes of arrays.
Steps = tuple[str | int, ...]


@dataclass
class WrongHeader(Exception):
    """A header that is not a path to a value of the resource."""

    reason: str


def bodies(
    file: BufferedReader, resource: Resource, longest: int, renames: Renames
) -> Iterator[tuple[int, bytes | UnreadableLine]]:
    """The line where each row begins, and its body as JSON text or what is wrong with the row. Rows of blank cells are
    skipped. `longest` bounds the bytes of a line and of a row.

    Raises UnreadableFile at the first line if headers are wrong, naming them, and where the file is not CSV.
    """
    rows = csv.reader(_lines(file, longest))
    columns: list[Steps | None] | None = None
    while True:
        line = rows.line_num + 1
        try:
            cells = ["" if cell.isspace() else cell for cell in next(rows)]
        except StopIteration:
            return
        except csv.Error as error:
            raise UnreadableFile(line, f"not CSV: {error}") from error
        if not any(cells):
            continue
        if columns is None:
            columns = _columns([cell.strip() for cell in cells], resource, line, renames)
        else:
            yield line, _body(cells, columns, longest)


def _lines(file: BufferedReader, longest: int) -> Iterator[str]:
    """Bytes that are no UTF-8 become surrogates, for which a row is refused."""
    number = 0
    reader = uncompressed(file)
    with damaged_gzip_reported(lambda: number + 1):
        while line := reader.readline(longest + 1):
            number += 1
            if len(line) > longest:
                raise UnreadableFile(number, f"longer than {longest} bytes")
            text = line.decode(errors="surrogateescape")
            yield text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text


def _columns(headers: list[str], resource: Resource, line: int, renames: Renames) -> list[Steps | None]:
    """The places of the columns; None for one without a header, which must be blank."""
    if len(headers) == 1 and (separator := next((each for each in _NO_SEPARATORS if each in headers[0]), None)):
        raise UnreadableFile(line, f"columns are separated by {_NO_SEPARATORS[separator]}, not by commas")
    columns: list[Steps | None] = []
    served = OtherNames.of(resource.served_names)
    wrong = []
    for header in headers:
        try:
            steps = _steps(header, resource.json_schema, served, renames) if header else None
        except WrongHeader as error:
            wrong.append(f"{header!r}: {error.reason}")
            continue
        if steps is not None and steps in columns:
            wrong.append(f"{header!r} occurs twice")
        columns.append(steps)
    if wrong:
        more = f"; and {len(wrong) - _NAMED_AT_MOST} more" if len(wrong) > _NAMED_AT_MOST else ""
        raise UnreadableFile(line, f"wrong headers: {'; '.join(wrong[:_NAMED_AT_MOST])}{more}")
    return columns


def _steps(header: str, schema: dict[str, Any], served: OtherNames, renames: Renames) -> Steps:
    """The steps to a value. Raises WrongHeader."""
    if not _HEADER.fullmatch(header):
        raise WrongHeader("it is not a path such as schoolReference.schoolId or addresses[0].city")
    steps: list[str | int] = []
    for name, index in _STEP.findall(header):
        kind, passed = schema.get("type"), _written(steps)
        if index:
            if kind != "array":
                raise WrongHeader(f"{passed} is not an array")
            steps.append(int(index))
            schema, served = schema["items"], served.at(ALL_ITEMS)
            continue
        if kind == "array":
            raise WrongHeader(f"{passed} is an array, its first item is {passed}[0]")
        properties = schema.get("properties", {})
        known = renames.known_name(served.stored(name), properties)
        if known not in properties:
            known = _in_other_case(name, properties, passed)
        steps.append(known)
        schema, served = properties[known], served.at(known)
    if schema.get("type") in ("object", "array"):
        raise WrongHeader(f"it is an {schema['type']}, and needs the path of a value in it")
    return tuple(steps)


def _in_other_case(name: str, properties: Iterable[str], passed: str) -> str:
    """The member whose name differs from this one in case only, where names are read in any case; a key of `_ext` may
    be the segment of URLs. Raises WrongHeader."""
    is_key = passed.rpartition(".")[2] == EXTENSIONS
    bare = bare_key if is_key else str.lower
    known = next((each for each in properties if bare(each) == bare(name)), None)
    if known is None:
        raise WrongHeader(f"there is no member {name}{f' in {passed}' if passed else ''}")
    if not api_settings.MEMBERS_IN_ANY_CASE and not is_key:
        raise WrongHeader(f"the member is spelt {known}")
    return known


def _written(steps: list[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")


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
        place = body
        for step in steps[:-1]:
            place = place.setdefault(step, {})
        place[steps[-1]] = cell
    try:
        return json_text.dumps(_with_arrays(body))
    except (TypeError, UnicodeEncodeError):
        return UnreadableLine("it is not UTF-8")


def _with_arrays(value: Any) -> Any:
    """Objects by index become arrays, in the order of the indexes."""
    if not isinstance(value, dict):
        return value
    if all(isinstance(key, int) for key in value) and value:
        return [_with_arrays(value[index]) for index in sorted(value)]
    return {name: _with_arrays(member) for name, member in value.items()}
