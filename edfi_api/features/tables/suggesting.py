"""Words of tables → what they mean: names of columns → members, probably; texts of cells → descriptors, by code value,
short description or description."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from edfi_api.core.models import Document
from edfi_api.core.storage import resource_types
from edfi_api.features.tables.members import Member, Members, in_words
from edfi_api.features.tables.template import MappedMember, Part
from edfi_api.model.surface.resource import ResourceName

_NO_WORD = re.compile(r"[\W_]+")
COUNTED = re.compile(r" \(\d+\)$")
_LAST_FIRST = re.compile(r"[^\W\d][^,\d]*,[^,\d]+")
_LEAST = 0.82
# What two names have in common by their letters counts so much. Longer names of columns are sentences.
_BY_LETTERS = 0.95
_LONGEST_NAME = 100
# The weight of a name that is the beginning or the end of a member's, unless so many members begin or end like that.
_PART = 0.84
_TOO_GENERAL = frozenset(
    {"code", "date", "id", "identifier", "name", "number", "reason", "term", "title", "type", "value"}
)
# The additional weight of a member that every document needs, compared with another one that fits as well.
_REQUIRED, _IDENTITY = 0.02, 0.03


@cache
def bundled_words() -> Mapping[str, Any]:
    """The tables of `words.toml`."""
    with Path(__file__).with_name("words.toml").open("rb") as file:
        return tomllib.load(file)


def suggested(columns: Sequence[str], members: Members, rows: Sequence[Sequence[str]] = ()) -> list[MappedMember]:
    """Return what the columns mean, as far as their names, and the names of persons in their first rows, say it: each
    member once, the best fit first."""
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
    """Return how well the name of a column fits a member, which has these names, from 0 to 1 and a little more."""
    if column == member.path:
        return 2.0
    name = _words(COUNTED.sub("", column)) if len(column) <= _LONGEST_NAME else ""
    if not name:
        return 0.0
    bonus = _IDENTITY * member.is_identity + _REQUIRED * member.is_required
    given = dict.fromkeys((name, bundled_words()["headers"].get(name, name)))
    return max(_similarity(each, other) for each in given for other in names) + bonus


def _names(member: Member) -> list[str]:
    """Return what a member may be called: by its own name, and with what it is in; the more it leaves out, the less."""
    *_, last = member.path.split(".")
    own = in_words(last.partition("[")[0].removesuffix("Descriptor") or last)
    return [own, member.words.replace(" 1 ", " ")]


def _similarity(one: str, other: str) -> float:
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


# A type with more is not named in words; its values are URIs then.
_MOST = 5_000
_NAMED = 8
_URI_SEPARATOR = "#"


class NoDescriptor(NamedTuple):
    """A text means no descriptor; the message says why."""

    reason: str


class DescriptorWords:
    """The descriptors that a database stores, read by type when a cell of that type comes."""

    def __init__(self, using: str) -> None:
        self.using = using
        self._types: dict[ResourceName, _DescriptorType] = {}

    def meaning(self, name: ResourceName, text: str) -> str | NoDescriptor:
        """The URI that a text means among descriptors of this type; a URI means itself, whether it is stored or not."""
        if _URI_SEPARATOR in text and ":" in text.partition(_URI_SEPARATOR)[0]:
            return text
        if name not in self._types:
            self._types[name] = _DescriptorType(name, self.using)
        return self._types[name].meaning(text)


class _DescriptorType:
    """The stored descriptors of one type, by each of their words."""

    def __init__(self, name: ResourceName, using: str) -> None:
        self._name = name
        number = resource_types.numbers(using).get(name)
        rows = Document.objects.using(using).filter(resource_type_id=number).values_list("body", flat=True)[:_MOST]
        self._by_words: list[dict[str, set[str]]] = [defaultdict(set) for _ in range(3)]
        codes = []
        for body in rows if number is not None else ():
            uri = f"{body.get('namespace', '')}{_URI_SEPARATOR}{body.get('codeValue', '')}"
            codes.append(str(body.get("codeValue", "")))
            for words, member in zip(self._by_words, ("codeValue", "shortDescription", "description"), strict=True):
                if isinstance(text := body.get(member), str):
                    words[_folded(text)].add(uri)
        # As they are compared, by code value.
        self._codes = {code: _folded(code) for code in sorted(set(codes))}

    def meaning(self, text: str) -> str | NoDescriptor:
        """The nearest words count: a code value more than a description, both more than other words for it."""
        for wanted in (text, *bundled_words()["values"].get(_folded(text), ())):
            for words in self._by_words:
                found = words.get(_folded(wanted), ())
                if len(found) == 1:
                    return next(iter(found))
                if found:
                    return NoDescriptor(f'"{text}" may be any of these: {_listed(sorted(found))}. Write which one.')
        if not self._codes:
            return NoDescriptor(f'No {self._name.resource} is stored, so nothing can be called "{text}".')
        part = _folded(text)
        near = [code for code, folded in self._codes.items() if part in folded] or self._codes
        return NoDescriptor(f'No {self._name.resource} is called "{text}". There are: {_listed(near)}.')


def _folded(text: str) -> str:
    return " ".join(_NO_WORD.sub(" ", text).casefold().split())


def _listed(texts: Iterable[str]) -> str:
    shown = list(texts)
    more = f", and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return "; ".join(shown[:_NAMED]) + more
