"""What was tolerated in a request: members that are dropped or read in another case, values that are read in another
form or guessed, filters that match nothing.

Strict handling refuses all of it. Otherwise the client gets the paths with the answer.
"""

from dataclasses import dataclass, field
from enum import StrEnum


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
