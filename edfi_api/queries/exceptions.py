"""What a query string can be refused for: facts, without wording."""

from dataclasses import dataclass


@dataclass
class ParameterValidationFailed(Exception):
    """Paging parameters out of their range; each message names one."""

    messages: list[str]


@dataclass
class UnknownQueryField(Exception):
    """A parameter that is no query field of the resource, in the client's spelling."""

    name: str


@dataclass
class NotForChangeQueries(Exception):
    """A filter, or a parameter of walks, where only deletes or key changes of a window can be asked for."""

    name: str


@dataclass(frozen=True, slots=True)
class InvalidQueryValue:
    """A value that cannot be read as its field's type."""

    path: str
    name: str
    value: str


@dataclass
class InvalidQueryValues(Exception):
    """All values of a query string that cannot be read."""

    values: list[InvalidQueryValue]
