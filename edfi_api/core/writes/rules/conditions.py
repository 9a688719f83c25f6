r"""Conditions on a member of a document, as TOML files have them: `{in = ["A", "B"]}`, `{at_most = {today = 0}}`.

A condition is a table of operators that all have to hold for a value of the member. What a value is compared with is a
constant, a list of constants, or a table that says where the values are:

- `{member = "$.beginDate"}`: in the document itself;
- `{stored = "$.beginDate"}`: in the document that is replaced;
- `{reference = "$.schoolReference", member = "$.gradeLevels[*].gradeLevelDescriptor"}`: in the document that is
  referred to;
- `{find = "ed-fi/sessions", where = {schoolId = "$.schoolReference.schoolId"}, member = "$.beginDate"}`: in the
  documents that a query finds, whose values are constants or members of the document;
- `{today = -1}`: the day of the write in UTC, and so many days from it.

Where there is nothing to compare with, an operator holds. With several values, `in`, `equals` and the comparisons hold
if they do for one of them, `not_in` and `not_equals` if they do for all.

Regular expressions are matched by RE2 in linear time: none can be written that holds up a worker. RE2 knows `\w`, `\d`
and `\s` of ASCII alone. Here they stand for those of all scripts, as in Python: José is a word.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import re2

from edfi_api.core.documents.paths import values_at
from edfi_api.core.writes.rules.ruled_write import RuledWrite
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath
from references.descriptor_uri import comparable

_PATH = re.compile(r"\$(\.[A-Za-z_][A-Za-z0-9_-]*(\[\*\])?)+")
_SOURCES = {
    frozenset({"member"}),
    frozenset({"stored"}),
    frozenset({"reference", "member"}),
    frozenset({"find", "where", "member"}),
    frozenset({"today"}),
}
# The limit of one rule: more are an error of its filters.
_MOST_FOUND = 100

# What RE2 has for them between brackets.
_OF_ALL_SCRIPTS = {"w": r"\p{L}\p{N}_", "d": r"\p{Nd}", "s": r"\s\v\x1c-\x1f\x{85}\p{Z}"}
_COMPLEMENTS = {"W": "w", "D": "d", "S": "s"}
_BRACKETS = r"\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]"
_CODE = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_ITEM = re.compile(rf"(?P<brackets>{_BRACKETS})|{_CODE}|\\.|\{{,(?=\d+\}})", re.DOTALL)
_ITEM_IN_BRACKETS = re.compile(rf"{_CODE}|\\.", re.DOTALL)
# Python's operators that have no equal in RE2, by what RE2 says of them.
_LOOK_AROUND = re.compile(r"\(\?<?[=!]")
_BACK_REFERENCE = re.compile(r"escape sequence: \\[1-9]|\(\?P=")


def _is_less(one: Any, other: Any) -> bool:
    """Return whether one number or text is less than the other: dates and times are compared as such in Ed-Fi's
    form."""
    if isinstance(one, str) != isinstance(other, str):
        return False
    return bool(one < other)


def _is_equal(value: Any, wanted: Any) -> bool:
    """Descriptors compare without regard to case; a wanted text without `#` is compared with the code value."""
    if not isinstance(value, str) or not isinstance(wanted, str):
        return bool(value == wanted)
    if "#" in value:
        value, wanted = comparable(value), comparable(wanted)
        return value == wanted or ("#" not in wanted and value.partition("#")[2] == wanted)
    return value == wanted


def _is_any(value: Any, wanted: list[Any]) -> bool:
    return any(_is_equal(value, each) for each in wanted)


_COMPARISONS: dict[str, Callable[[Any, list[Any]], bool]] = {
    "in": _is_any,
    "equals": _is_any,
    "not_in": lambda value, wanted: not _is_any(value, wanted),
    "not_equals": lambda value, wanted: not _is_any(value, wanted),
    "at_least": lambda value, limits: any(not _is_less(value, each) for each in limits),
    "at_most": lambda value, limits: any(not _is_less(each, value) for each in limits),
    "above": lambda value, limits: any(_is_less(each, value) for each in limits),
    "below": lambda value, limits: any(_is_less(value, each) for each in limits),
}
# These conditions are about all values of a member together.
_OF_ALL = ("present", "unchanged")
OPERATORS = (*_COMPARISONS, "matches", *_OF_ALL)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the values of a member, whose `path` may have arrays: `$.races[*].raceDescriptor`."""

    path: JsonPath
    operators: Mapping[str, Any]

    def failures(self, write: RuledWrite) -> Iterator[tuple[int, ...]]:
        """The indexes, in the arrays of the path, of each value for which the condition does not hold; those of the
        first item for what is wrong with all of them."""
        found = values_at(write.document, self.path.steps)
        is_wanted = self.operators.get("present")
        if is_wanted is False:
            yield from (indexes for indexes, _ in found)
        elif (is_wanted and not found) or ("unchanged" in self.operators and self._differs(write)):
            yield (0,) * self.path.steps.count(ALL_ITEMS)
        elif found:
            tests = [self._test(name, given, write) for name, given in self.operators.items() if name not in _OF_ALL]
            yield from (indexes for indexes, value in found if not all(test(value) for test in tests))

    def holds(self, write: RuledWrite) -> bool:
        """Return whether the condition holds for at least one value of the member; `present = false` if there is
        none."""
        found = values_at(write.document, self.path.steps)
        if not found:
            return self.operators.get("present") is False
        return len(set(self.failures(write))) < len(found)

    @property
    def reads_document_only(self) -> bool:
        of_document = all(each.keys() == {"member"} or "today" in each for each in self._tables)
        return of_document and "unchanged" not in self.operators

    @property
    def references(self) -> list[tuple[str, str]]:
        """The paths of the references that it follows, and of the members in their targets."""
        return [(each["reference"], each["member"]) for each in self._tables if "reference" in each]

    @property
    def queries(self) -> list[tuple[str, list[str], str]]:
        """The resources in which it finds documents, by which fields, and the paths of their members."""
        return [(each["find"], list(each["where"]), each["member"]) for each in self._tables if "find" in each]

    @property
    def paths(self) -> list[JsonPath]:
        """All members of the document that it reads."""
        own = [each["member"] for each in self._tables if each.keys() == {"member"}]
        own += [each["stored"] for each in self._tables if "stored" in each]
        own += [given for each in self._tables for given in each.get("where", {}).values() if _is_path(given)]
        return [self.path, *map(JsonPath.parse, own)]

    @property
    def _tables(self) -> list[Mapping[str, Any]]:
        return [given for given in self.operators.values() if isinstance(given, Mapping)]

    def _differs(self, write: RuledWrite) -> bool:
        """Return whether the member has other values than in the stored document, if there is one."""
        if write.stored is None:
            return False
        bodies = (write.stored, write.document)
        before, now = ([value for _, value in values_at(body, self.path.steps)] for body in bodies)
        return before != now

    def _test(self, name: str, given: Any, write: RuledWrite) -> Callable[[Any], bool]:
        if name == "matches":
            return lambda value: matches(given, str(value))
        wanted = _values(given, write)
        return (lambda value: _COMPARISONS[name](value, wanted)) if wanted else (lambda value: True)


def _values(given: Any, write: RuledWrite) -> list[Any]:
    """The values with which a value is compared."""
    if not isinstance(given, Mapping):
        return given if isinstance(given, list) else [given]
    if "today" in given:
        return [(datetime.now(UTC).date() + timedelta(days=given["today"])).isoformat()]
    return _at(given["stored" if "stored" in given else "member"], _bodies(given, write))


def _bodies(given: Mapping[str, Any], write: RuledWrite) -> Iterable[Any]:
    """Return the bodies in which the values are."""
    if "stored" in given:
        return [write.stored or {}]
    if "reference" in given:
        return write.documents.referenced(given["reference"])
    if "find" in given:
        filters = _filters(given["where"], write)
        return [] if filters is None else write.documents.where(given["find"], filters, _MOST_FOUND)
    return [write.document]


def _filters(where: Mapping[str, Any], write: RuledWrite) -> dict[str, Any] | None:
    """The filters of a query; None if the document lacks one of their values."""
    filters: dict[str, Any] = {}
    for name, given in where.items():
        values = _at(given, [write.document]) if _is_path(given) else [given]
        if not values:
            return None
        filters[name] = values[0]
    return filters


def _at(path: str, bodies: Iterable[Any]) -> list[Any]:
    steps = JsonPath.parse(path).steps
    return [value for body in bodies for _, value in values_at(body, steps)]


def _is_path(given: Any) -> bool:
    return isinstance(given, str) and _PATH.fullmatch(given) is not None


def problems_of_path(named: str, given: Any) -> Iterator[str]:
    if not _is_path(given):
        yield f"{named} has to be a path such as $.entryDate or $.races[*].raceDescriptor"


def problems_of(named: str, given: Any) -> Iterator[str]:
    """The problems of the table of a condition."""
    if not isinstance(given, Mapping) or not given:
        yield f"{named} has to be a table of operators: {', '.join(OPERATORS)}"
        return
    for operator, value in given.items():
        of_operator = f"{named}.{operator}"
        if operator not in OPERATORS:
            yield f"{of_operator} is no operator; there are {', '.join(OPERATORS)}"
        elif operator == "matches":
            yield from _problems_of_pattern(of_operator, value)
        elif operator == "present":
            if not isinstance(value, bool):
                yield f"{of_operator} has to be true or false"
        elif operator == "unchanged":
            if value is not True:
                yield f"{of_operator} has to be true"
        else:
            yield from _problems_of_values(of_operator, value)


def _problems_of_pattern(named: str, given: Any) -> Iterator[str]:
    if not isinstance(given, str):
        yield f"{named} has to be a text"
        return
    try:
        check(given)
    except InvalidPattern as error:
        yield f"{named} is no regular expression of RE2: {error}"


def _problems_of_values(named: str, given: Any) -> Iterator[str]:
    if isinstance(given, list):
        if not given or not all(isinstance(each, str | int | float) for each in given):
            yield f"{named} has to be a list of texts or numbers"
    elif isinstance(given, Mapping):
        if frozenset(given) not in _SOURCES:
            expected = " or ".join(f"{{{', '.join(sorted(each))}}}" for each in sorted(_SOURCES, key=sorted))
            yield f"{named} has to have the members of one of {expected}"
            return
        for name in ("member", "stored", "reference"):
            if name in given:
                yield from problems_of_path(f"{named}.{name}", given[name])
        if "today" in given and (isinstance(given["today"], bool) or not isinstance(given["today"], int)):
            yield f"{named}.today has to be a number of days, such as 0"
        if "find" in given and not isinstance(given["find"], str):
            yield f"{named}.find has to be a resource, such as ed-fi/sessions"
        if "where" in given and (not isinstance(given["where"], Mapping) or not given["where"]):
            yield f"{named}.where has to be a table of query fields"
    elif not isinstance(given, str | int | float):
        yield f"{named} has to be a text, a number, a list, or a table"


class InvalidPattern(ValueError):
    """A text is no regular expression that RE2 can match; the message says why."""


def matches(pattern: str, text: str) -> bool:
    """Return whether the pattern matches the text as a whole. Raises InvalidPattern."""
    return _compiled(pattern).fullmatch(text) is not None


def check(pattern: str) -> None:
    """Raises InvalidPattern."""
    _compiled(pattern)


@cache  # The patterns are those of the rules.
def _compiled(pattern: str) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(_ITEM.sub(_translated, pattern), options)
    except re2.error as error:
        raise InvalidPattern(_reason(error.args[0].decode(errors="replace"), pattern)) from error


def _translated(found: re.Match[str]) -> str:
    item = found[0]
    if found["brackets"]:
        return _ITEM_IN_BRACKETS.sub(_translated_in_brackets, item)
    name = item[1]
    if name in _OF_ALL_SCRIPTS:
        return f"[{_OF_ALL_SCRIPTS[name]}]"
    if name in _COMPLEMENTS:
        return f"[^{_OF_ALL_SCRIPTS[_COMPLEMENTS[name]]}]"
    if item == "{,":
        return "{0,"
    return r"\z" if name == "Z" else _escape(item)


def _translated_in_brackets(found: re.Match[str]) -> str:
    """Raises InvalidPattern."""
    item = found[0]
    name = item[1]
    if name in ("W", "S"):
        raise InvalidPattern(
            rf"\{name} between brackets cannot be expressed; write \p{{L}} for a letter, (?s:.) for any character"
        )
    return r"\P{Nd}" if name == "D" else _OF_ALL_SCRIPTS.get(name) or _escape(item)


def _escape(item: str) -> str:
    r"""An escape as RE2 has it: `\u00e9` is `\x{00e9}`."""
    return rf"\x{{{item[2:]}}}" if len(item) > 2 else item


def _reason(message: str, pattern: str) -> str:
    r"""Return the reason in words of those who know Python's expressions. RE2 names `(?=` and `\1` as it finds them."""
    if _BACK_REFERENCE.search(message) or ("(?P" in message and "(?P=" in pattern):
        return f"back references cannot be expressed ({message})"
    if "(?" in message and _LOOK_AROUND.search(pattern):
        return f"look-ahead and look-behind cannot be expressed ({message})"
    if "repetition size" in message:
        return f"a repetition has at most 1,000 items ({message})"
    return message
