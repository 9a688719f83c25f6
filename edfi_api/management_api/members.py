"""What the body of a request may have, as data: members, their types, and the rules about them.

Requests are checked by it (`bodies`), and the OpenAPI document is made of it (`openapi`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

# Key in `validationErrors`, and the text.
Finding = tuple[str, str]


class Kind(Enum):
    """The type of a member, with its JSON schema."""

    TEXT = {"type": ["string", "null"]}
    BOOLEAN = {"type": "boolean"}
    INTEGER = {"type": "integer", "format": "int32"}
    INTEGERS = {"type": ["array", "null"], "items": {"type": "integer", "format": "int32"}}
    LONG_INTEGERS = {"type": ["array", "null"], "items": {"type": "integer", "format": "int64"}}
    OBJECTS = {"type": ["array", "null"], "items": {"type": "object"}}
    OBJECT = {"type": ["object", "null"]}
    TEXTS = {"type": ["array", "null"], "items": {"type": "string"}}


@dataclass(frozen=True)
class Rule:
    """`find` yields what is wrong with a value; `schema` is what JSON schemas say of it."""

    find: Callable[["Member", Any], Iterator[Finding]]
    schema: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class Member:
    """A member of the body. A request that lacks one that `is_required` is no valid JSON for its address."""

    name: str
    kind: Kind = Kind.TEXT
    rules: tuple[Rule, ...] = ()
    is_required: bool = False
    # The value of a member that is absent; None means that of null.
    absent: Any = None

    @property
    def key(self) -> str:
        """In `validationErrors`: `ApplicationName`."""
        return self.name[:1].upper() + self.name[1:]

    @property
    def words(self) -> str:
        """In texts: `Application Name`."""
        return _WORD.sub(" ", self.key)

    def findings(self, value: Any) -> Iterator[Finding]:
        """What is wrong with a value, in the order of the rules."""
        for rule in self.rules:
            yield from rule.find(self, value)


Shape = Sequence[Member]
LONGEST_KEY = 256


def is_empty(value: object) -> bool:
    return value is None or value in (0, []) or (isinstance(value, str) and not value.strip())


def _if(broken: Callable[[Any], object], text: Callable[[Member, Any], str], *schema: tuple[str, object]) -> Rule:
    def find(member: Member, value: Any) -> Iterator[Finding]:
        if broken(value):
            yield member.key, text(member, value)

    return Rule(find, schema)


def says(text: str, broken: Callable[[Any], object]) -> Rule:
    """A rule with a text of its own."""
    return _if(broken, lambda *_: text)


def at_most(length: int, text: str = "") -> Rule:
    """A text is at most so long."""
    return _if(
        lambda value: value is not None and len(value) > length,
        lambda member, value: (
            text
            or f"The length of '{member.words}' must be {length} characters or fewer. "
            f"You entered {len(value)} characters."
        ),
        ("maxLength", length),
    )


def _each_positive(member: Member, value: Any) -> Iterator[Finding]:
    for number, each in enumerate(value or ()):
        if each <= 0:
            yield f"{member.key}[{number}]", f"'{member.words}' must be greater than '0'."


def _is_no_address(value: str | None) -> bool:
    return value is not None and (value.count("@") != 1 or value.startswith("@") or value.endswith("@"))


NOT_EMPTY = _if(is_empty, lambda member, _: f"'{member.words}' must not be empty.", ("minLength", 1))
POSITIVE = _if(lambda value: (value or 0) <= 0, lambda member, _: f"'{member.words}' must be greater than '0'.")
EACH_POSITIVE = Rule(_each_positive)
EMAIL = _if(_is_no_address, lambda member, _: f"'{member.words}' is not a valid email address.", ("format", "email"))
# Names appear in logs and on pages.
ONE_LINE = _if(
    lambda value: value is not None and re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", value),
    lambda member, _: f"'{member.words}' must not contain control characters.",
)


def name(name: str, longest: int, *more: Rule, is_required: bool = False) -> Member:
    """A text that is not empty, on one line, and at most so long."""
    return Member(name, Kind.TEXT, (NOT_EMPTY, at_most(longest), *more, ONE_LINE), is_required)


def ids(name: str, kind: Kind = Kind.INTEGERS, *rules: Rule) -> Member:
    """A list of positive numbers."""
    return Member(name, kind, (*rules, EACH_POSITIVE))
