"""Names of columns → the members that they probably mean."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

from edfi_api.features.tables.members import Member, Members, in_words
from edfi_api.features.tables.template import MappedMember

_NO_WORD = re.compile(r"[\W_]+")
_COUNTED = re.compile(r" \(\d+\)$")
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


def suggested(columns: Sequence[str], members: Members) -> list[MappedMember]:
    """What the columns mean, as far as their names say it: each member once, the best fit first."""
    offered = [(each, _names(each)) for each in members.all if "[1]" not in each.path]
    fits = [
        (fit, number, member)
        for number, column in enumerate(columns)
        for member, names in offered
        if (fit := _fit(column, member, names)) >= _LEAST
    ]
    chosen: dict[int, Member] = {}
    taken: set[str] = set()
    for _, number, member in sorted(fits, key=lambda each: (-each[0], each[1])):
        if number not in chosen and member.path not in taken:
            chosen[number] = member
            taken.add(member.path)
    return [MappedMember(chosen[number].path, columns[number]) for number in sorted(chosen)]


def _fit(column: str, member: Member, names: Sequence[str]) -> float:
    """How well the name of a column fits a member, which has these names, from 0 to 1 and a little more."""
    if column == member.path:
        return 2.0
    name = _words(_COUNTED.sub("", column)) if len(column) <= _LONGEST_NAME else ""
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
