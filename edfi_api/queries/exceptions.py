"""Exceptions about query strings. They carry facts; the texts for clients are in `problem_details.catalog`."""

from dataclasses import dataclass


@dataclass
class ParameterValidationFailed(Exception):
    """Invalid paging parameters; `messages` are for the client."""

    messages: list[str]


@dataclass
class UnknownQueryField(Exception):
    """A parameter that is not a query field of the resource; `name` as sent."""

    name: str


@dataclass
class NotForChangeQueries(Exception):
    """A filter or a cursor paging parameter in a request for deletes or key changes."""

    name: str


@dataclass(frozen=True, slots=True)
class InvalidQueryValue:
    """A value that does not parse as the type of its field."""

    path: str
    name: str
    value: str


@dataclass
class InvalidQueryValues(Exception):
    """All values of a query string that do not parse."""

    values: list[InvalidQueryValue]
