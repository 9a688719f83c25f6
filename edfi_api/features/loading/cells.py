"""Rows of cells, and columns that are named by the paths of members, `schoolReference.schoolId`, `addresses[0].city`,
`_ext.sample.colour`; and the bodies that cells of such columns make."""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

from edfi_api.common.conf import api_settings
from edfi_api.core.documents.member_names import OtherNames
from edfi_api.features.loading.renames import NO_RENAMES, Renames
from edfi_api.model.surface.naming import EXTENSIONS, bare_key
from edfi_api.model.surface.resource import ALL_ITEMS, Resource

# The first of two that separate as many lines is taken: commas are in texts as well.
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


_PATH = re.compile(r"[^.\[\]\s]+(\[\d{1,4}\])?(\.[^.\[\]\s]+(\[\d{1,4}\])?)*")
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
# Member names, and indexes of arrays.
Steps = tuple[str | int, ...]


@dataclass
class NoSuchColumn(Exception):
    """A text that is not the path of a value of the resource."""

    reason: str


def column_steps(path: str, resource: Resource, renames: Renames = NO_RENAMES) -> Steps:
    """The steps to a value of the resource. Raises NoSuchColumn."""
    if not _PATH.fullmatch(path):
        raise NoSuchColumn("it is not a path such as schoolReference.schoolId or addresses[0].city")
    schema, served = resource.json_schema, OtherNames.of(resource.served_names)
    steps: list[str | int] = []
    for name, index in _STEP.findall(path):
        kind, passed = schema.get("type"), as_path(steps)
        if index:
            if kind != "array":
                raise NoSuchColumn(f"{passed} is not an array")
            steps.append(int(index))
            schema, served = schema["items"], served.at(ALL_ITEMS)
            continue
        if kind == "array":
            raise NoSuchColumn(f"{passed} is an array, its first item is {passed}[0]")
        properties = schema.get("properties", {})
        known = renames.known_name(served.stored(name), properties)
        if known not in properties:
            known = _in_other_case(name, properties, passed)
        steps.append(known)
        schema, served = properties[known], served.at(known)
    if schema.get("type") in ("object", "array"):
        raise NoSuchColumn(f"it is an {schema['type']}, and needs the path of a value in it")
    return tuple(steps)


def _in_other_case(name: str, properties: Iterable[str], passed: str) -> str:
    """The member whose name differs from this one in case only, where names are read in any case; a key of `_ext` may
    be the segment of URLs. Raises NoSuchColumn."""
    is_key = passed.rpartition(".")[2] == EXTENSIONS
    bare = bare_key if is_key else str.lower
    known = next((each for each in properties if bare(each) == bare(name)), None)
    if known is None:
        raise NoSuchColumn(f"there is no member {name}{f' in {passed}' if passed else ''}")
    if not api_settings.MEMBERS_IN_ANY_CASE and not is_key:
        raise NoSuchColumn(f"the member is spelt {known}")
    return known


def as_path(steps: Iterable[str | int]) -> str:
    """`addresses[0].city`"""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")


def put(body: dict[Any, Any], steps: Steps, value: Any) -> None:
    """Add a value to a body in which arrays are still objects by index."""
    place = body
    for step in steps[:-1]:
        place = place.setdefault(step, {})
    place[steps[-1]] = value


def with_arrays(value: Any) -> Any:
    """The body in which objects by index have become arrays, in their order: items without a value are left out."""
    if not isinstance(value, dict):
        return value
    if all(isinstance(key, int) for key in value) and value:
        return [with_arrays(value[index]) for index in sorted(value)]
    return {name: with_arrays(member) for name, member in value.items()}
