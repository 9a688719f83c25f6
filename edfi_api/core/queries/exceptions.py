"""Exceptions about query strings. They carry facts, whose texts for clients are in `problem_details.catalog`; only
`ParameterValidationFailed` has texts, of where the parameter is read."""

from collections.abc import Collection
from dataclasses import dataclass, field

from edfi_api.core.documents.violations import Reason


@dataclass
class ParameterValidationFailed(Exception):
    """Invalid paging parameters; `messages` are for the client."""

    messages: list[str]


@dataclass
class IndexRequired(Exception):
    """A query that needs an index, named as `create_query_index` takes it, since its other conditions leave more than
    `most` documents."""

    index: str
    most: int


@dataclass
class UnknownQueryField(Exception):
    """A parameter that is not a query field of the resource; `name` as sent. `known` are the fields that the client may
    use, as far as the answer names them."""

    name: str
    known: Collection[str] = field(default=(), repr=False)


@dataclass
class NotForChangeQueries(Exception):
    """A filter or a cursor paging parameter in a request for deletes or key changes."""

    name: str


@dataclass(frozen=True, slots=True)
class InvalidQueryValue:
    """A value that does not parse as the type of its field; with a `reason`, one that strict handling refuses.

    `descriptor` is the type of the descriptor that it should be.
    """

    path: str
    name: str
    value: str
    reason: Reason | None = None
    descriptor: str = ""


@dataclass
class InvalidQueryValues(Exception):
    """All values of a query string that do not parse."""

    values: list[InvalidQueryValue]
