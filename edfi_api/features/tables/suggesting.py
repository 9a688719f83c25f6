"""Names of columns → the members that they probably mean."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

from edfi_api.features.tables.members import Member, Members, in_words
from edfi_api.features.tables.template import MappedMember, Part

_NO_WORD = re.compile(r"[\W_]+")
COUNTED = re.compile(r" \(\d+\)$")
_LAST_FIRST = re.compile(r"[^\W\d][^,\d]*,[^,\d]+")
_LEAST = 0.82
# What two names have in common by their letters counts so much. Longer names of columns are sentences.
_BY_LETTERS = 0.95
_LONGEST_NAME = 100
# Of a name that is the beginning or the end of a member's, unless so many members begin or end like that.
_PART = 0.84
_TOO_GENERAL = frozenset(
    {"code", "date", "id", "identifier", "name", "number", "reason", "term", "title", "type", "value"}
)
# What a member that every document needs is worth more than another one that fits as well.
_REQUIRED, _IDENTITY = 0.02, 0.03


@cache
def bundled_words() -> Mapping[str, Any]:
    """The tables of `words.toml`."""
    with Path(__file__).with_name("words.toml").open("rb") as file:
        return tomllib.load(file)


def suggested(columns: Sequence[str], members: Members, rows: Sequence[Sequence[str]] = ()) -> list[MappedMember]:
    """What the columns mean, as far as their names, and the names of persons in their first rows, say it: each member
    once, the best fit first."""
    offered = [(each, _names(each)) for each in members.all if "[1]" not in each.path]
    fits = [
        (fit, number, member)
        for number, column in enumerate(columns)
        for member, names in offered
        if (fit := _fit(column, member, names)) >= _LEAST
    ]
    persons = {number: _parts_of_name(members) for number in _columns_of_names(columns, rows)}
    chosen: dict[int, Member] = {}
    taken: set[str] = set()
    for _, number, member in sorted(fits, key=lambda each: (-each[0], each[1])):
        if number not in chosen and number not in persons and member.path not in taken:
            chosen[number] = member
            taken.add(member.path)
    found = []
    for number, column in enumerate(columns):
        if number in chosen:
            found.append(MappedMember(chosen[number].path, column))
        for part, path in persons.get(number, {}).items():
            if path not in taken:
                found.append(MappedMember(path, column, part=part))
                taken.add(path)
    return found


def _columns_of_names(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[int]:
    """The columns whose headers may stand above the names of persons, and whose cells are of the form `Ortiz, Mae`."""
    for number, column in enumerate(columns):
        cells = [row[number] for row in rows if row[number]]
        names = sum(_LAST_FIRST.fullmatch(cell) is not None for cell in cells)
        if cells and names >= _LEAST * len(cells) and _words(column) in bundled_words()["names"]["headers"]:
            yield number


def _parts_of_name(members: Members) -> dict[Part, str]:
    """The members for the parts of a person's name; none if documents of the resource have no such names."""
    words: Mapping[Part, str] = bundled_words()["names"]["parts"]
    by_words = {each.words: each.path for each in members.all}
    found = {part: by_words[member] for part, member in words.items() if member in by_words}
    return found if len(found) == len(words) else {}


def _fit(column: str, member: Member, names: Sequence[str]) -> float:
    """How well the name of a column fits a member, which has these names, from 0 to 1 and a little more."""
    if column == member.path:
        return 2.0
    name = _words(COUNTED.sub("", column)) if len(column) <= _LONGEST_NAME else ""
    if not name:
        return 0.0
    bonus = _IDENTITY * member.is_identity + _REQUIRED * member.is_required
    given = dict.fromkeys((name, bundled_words()["headers"].get(name, name)))
    return max(_alike(each, other) for each in given for other in names) + bonus


def _names(member: Member) -> list[str]:
    """What a member may be called: by its own name, and with what it is in; the more it leaves out, the less."""
    *_, last = member.path.split(".")
    own = in_words(last.partition("[")[0].removesuffix("Descriptor") or last)
    return [own, member.words.replace(" 1 ", " ")]


def _alike(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if sorted(one.split()) == sorted(other.split()):
        return 0.97
    if one.replace(" ", "") == other.replace(" ", ""):
        return 0.98
    if one not in _TOO_GENERAL and (other.endswith(f" {one}") or other.startswith(f"{one} ")):
        return _PART
    matcher = SequenceMatcher(None, one, other)
    # Upper bounds, which take a fraction of the time, decide for most pairs.
    least = (_LEAST - _IDENTITY - _REQUIRED) / _BY_LETTERS
    if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
        return 0.0
    return matcher.ratio() * _BY_LETTERS


def _words(text: str) -> str:
    spread = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return " ".join(_NO_WORD.sub(" ", spread).lower().split())
