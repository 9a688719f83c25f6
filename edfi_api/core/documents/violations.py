"""Violations of the rules for bodies, with the message texts of Ed-Fi's own server, and what was tolerated in a
request: members that are dropped or read in another case, values that are read in another form or guessed, filters that
match nothing. Strict handling refuses all of it. Otherwise the client gets the paths with the answer.

See meadowlark/docs/reference/contract.md#bodies.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import TypeVar


class Reason(StrEnum):
    """Why strict handling refuses something."""

    UNKNOWN_MEMBER = "unknown-member"
    OTHER_CASE = "other-case"
    AMBIGUOUS_DATE = "ambiguous-date"
    OTHER_FORM = "other-form"
    NO_DESCRIPTOR_URI = "no-descriptor-uri"
    UNKNOWN_DESCRIPTOR = "unknown-descriptor"
    UNKNOWN_PARAMETER = "unknown-parameter"
    MISSPELT_NAMESPACE = "misspelt-namespace"
    LIKE_STORED_KEY = "like-stored-key"


@dataclass(frozen=True, slots=True)
class Tolerated:
    """One thing that was tolerated: its path in the body, `$.addresses[0].colour`, or the path or the name that a
    query parameter has."""

    path: str
    reason: Reason


@dataclass(slots=True)
class Leniency:
    """Whether a request is handled strictly and, if not, what has been tolerated in it.

    `is_used` is set by coercion: there is something in a body that is tolerated. Where it is not set, nothing has to
    be looked for. With `any_case` members are read in any case; otherwise those that differ from a known one in case
    only are refused.
    """

    is_strict: bool = False
    any_case: bool = field(default=False, kw_only=True)
    is_used: bool = False
    tolerated: list[Tolerated] = field(default_factory=list)


# More violations than this point to an error of the client program, not of its data, and are not reported.
MOST_REPORTED = 100

Found = TypeVar("Found")


def as_many_as_reported(found: Iterable[Found]) -> list[Found]:
    """The first items, at most one more than are reported: the extra one shows that there are more."""
    return list(islice(found, MOST_REPORTED + 1))


class BrokenRule(StrEnum):
    """The rules for which another server has a sentence of its own, and that of the names of members, whose violations
    name them as they were sent."""

    REQUIRED = "required"
    NOT_BLANK = "not blank"
    NO_OUTER_SPACES = "no outer spaces"
    NOT_ONLY_SPACES = "not only spaces"
    LENGTH = "length"
    TYPE = "type"
    RANGE = "range"
    DECIMAL = "decimal"
    DISTINCT = "distinct"
    EQUAL = "equal"
    SPELLING = "spelling"


@dataclass(frozen=True, slots=True)
class Violation:
    """One violation: the path in the body (`$.addresses[0].city`) and the message for the client.

    `advice` is what to do; empty if the message says it, None if it follows from what the schema has at the path.
    """

    path: str
    message: str
    advice: str | None = None
    rule: BrokenRule | None = None


def _name(path: str) -> str:
    return path.rsplit(".", 1)[-1]


def required(path: str) -> Violation:
    return Violation(path, f"{_name(path)} is required.", rule=BrokenRule.REQUIRED)


def missing_id() -> Violation:
    """Return the violation of an update whose body has no `id`."""
    return Violation("$.id", "id is required.", "it was not sent. Expected is the id of the path.")


def left_empty(path: str) -> Violation:
    return Violation(path, f"{_name(path)} is required and should not be left empty.", rule=BrokenRule.NOT_BLANK)


def misspelt_namespace(path: str) -> Violation:
    message = f"{_name(path)} is not spelt like a URI."
    return Violation(path, message, "Write it like uri://ed-fi.org/..., without blanks.")


def like_stored_key(path: str, stored: str) -> Violation:
    """A key that looks like a stored one, whose value is `stored`, distinguished by escapes."""
    message = f"{_name(path)} looks like that of another item with the same key, {stored}, and is not equal to it."
    return Violation(path, message, f"Send {stored} if that item is meant.")


def outer_whitespace(path: str, value: str) -> Violation:
    message = f"{_name(path)} cannot contain leading or trailing spaces."
    rule = BrokenRule.NO_OUTER_SPACES if value.strip() else BrokenRule.NOT_ONLY_SPACES
    return Violation(path, message, "Remove the spaces around it.", rule)


def too_short(path: str, limit: int) -> Violation:
    return Violation(path, f"{_name(path)} Value should be at least {limit} characters", rule=BrokenRule.LENGTH)


def too_long(path: str, limit: int) -> Violation:
    return Violation(path, f"{_name(path)} Value should be at most {limit} characters", rule=BrokenRule.LENGTH)


def wrong_type(path: str, found: str, expected: str) -> Violation:
    message = f'{_name(path)} Value is "{found}" but should be "{expected}"'
    return Violation(path, message, rule=BrokenRule.TYPE)


def below_minimum(path: str, limit: object) -> Violation:
    return Violation(path, f"{_name(path)} must be greater than or equal to {limit}.", rule=BrokenRule.RANGE)


def above_maximum(path: str, limit: object) -> Violation:
    return Violation(path, f"{_name(path)} must be less than or equal to {limit}.", rule=BrokenRule.RANGE)


def out_of_decimal_range(path: str, most: str, least: str = "") -> Violation:
    """A decimal below `least`, which is the negative of `most` if it is not given, or above `most`."""
    return Violation(path, f"{_name(path)} must be between {least or f'-{most}'} and {most}.", rule=BrokenRule.DECIMAL)


def too_many_decimal_places(path: str, most: int) -> Violation:
    return Violation(
        path, f"{_name(path)} must have at most {most} decimal places.", f"Round it to {most} decimal places."
    )


def wrong_format(path: str, expected: str) -> Violation:
    return Violation(path, f"{_name(path)} should be of type {expected}.", rule=BrokenRule.TYPE)


def too_few_items(path: str, limit: int) -> Violation:
    return Violation(path, f"{_name(path)} must contain at least {limit} item(s).")


def nul_character(path: str) -> Violation:
    return Violation(path, f"{_name(path)} cannot contain the NUL character.", "")


def markup(path: str) -> Violation:
    """A text that may be markup, in the words of the ODS/API, which alone refuses it."""
    name = _name(path)
    return Violation(
        path,
        f"{name[:1].upper()}{name[1:]} contains a value that could be dangerous for downstream systems using this "
        "data. Try to avoid the use of special symbols like '<', '>' or '&' without surrounding spaces.",
        "",
    )


def default_value(path: str, value: str) -> Violation:
    """A value that the ODS/API takes for none, in its words."""
    name = _name(path)
    return Violation(path, f"{name[:1].upper()}{name[1:]} value must be different than {value}.", "")


def number_sign(path: str) -> Violation:
    return Violation(path, f"{_name(path)} cannot contain '#', behind which a descriptor's URI has the code value.", "")


def unknown_member(path: str) -> Violation:
    return Violation(path, f"{_name(path)} is not a member of this resource.", "")


def other_case(path: str, name: str) -> Violation:
    """Return the violation of a member that differs from a known one in case only, where it is not read."""
    return Violation(
        path,
        f"{_name(path)} is not a member of this resource; its name is spelt {name}.",
        f'"{_name(path)}" was sent; names are case-sensitive. Write {name}.',
        BrokenRule.SPELLING,
    )


def read_in_other_case(path: str) -> Violation:
    """Return the violation of a member that is read in any case, where handling is strict."""
    return Violation(path, f"{_name(path)} is spelt in another case than the member of this resource.", "")


def spelt_twice(path: str, other: str) -> Violation:
    message = f"{_name(path)} and {other} are two spellings of one member; only one of them can be sent."
    return Violation(path, message, "", BrokenRule.SPELLING)


def other_form(path: str) -> Violation:
    return Violation(path, f"{_name(path)} is not in the form in which its value is stored.", "")


def ambiguous_date(path: str) -> Violation:
    return Violation(path, f"{_name(path)} is ambiguous; the form yyyy-MM-dd is not.", "")


def unknown_rule(path: str, message: str) -> Violation:
    return Violation(path, message)


def impossible_member(path: str) -> Violation:
    return Violation(path, f"{_name(path)} is not a member that is possible here.")


def given_twice(path: str, other: str) -> Violation:
    return Violation(path, f"{_name(path)} cannot be given together with {other}.")


def not_one_of(path: str, values: Iterable[str]) -> Violation:
    return Violation(path, f"{_name(path)} must be one of: {', '.join(values)}.")


def duplicate_item(path: str, position: int) -> Violation:
    return Violation(
        path,
        f"The {_ordinal(position)} item of the {_name(path)} has the same identifying values as another item "
        "earlier in the list.",
        "Leave that item out, or change its identifying values.",
        BrokenRule.DISTINCT,
    )


def unequal_values(path: str, conflicting: list[str]) -> Violation:
    values = ", ".join(f"'{value}'" for value in conflicting)
    return Violation(
        path,
        f"All values supplied for '{_name(path)}' must match. Review all references (including those higher up "
        f"in the resource's data) and align the following conflicting values: {values}",
        "",
        BrokenRule.EQUAL,
    )


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
