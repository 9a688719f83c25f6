"""Indexes of values in the bodies of one resource, which an operator creates: `create_query_index students.birthDate`.

Each is a partial expression index on `document`. Its name is made from its definition, so a process knows from the
names of the indexes of a database which queries it can answer.

The value at a path of a stored body is compared as JSONB: numbers as numbers, texts (dates too, whose canonical form
has their order) by the collation of the database. A missing value is JSON's null, which is less than any other. So each
expression has a value in every document, and one index on it answers all comparisons and gives an order. Rows are named
`d`.
"""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

from edfi_api.core.storage.database_state import database_state
from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.model.surface.resource import JsonPath, Resource

MISSING = "'null'::jsonb"
# More than any text that begins with the same characters.
_LAST_CHARACTER = r"U&'\+10FFFF'"


def value_at(path: JsonPath, row: str = "d.") -> str:
    """The value as JSONB."""
    return f"coalesce({row}body{_steps(path)}, {MISSING})"


def text_at(path: JsonPath, row: str = "d.") -> str:
    """The value as a text in lower case, compared by code points; NULL if it is missing."""
    *parents, last = path.steps
    return f"lower({row}body{_steps(JsonPath(tuple(parents)))} ->> '{last}') COLLATE \"C\""


def begins_with(text: str, prefix: str) -> str:
    """Return whether a text of `text_at` begins with the prefix, as the range that an index has."""
    lower = f'lower({prefix}) COLLATE "C"'
    return f"{text} >= {lower} AND {text} <= {lower} || {_LAST_CHARACTER}"


def _steps(path: JsonPath) -> str:
    return "".join(f" -> '{step}'" for step in path.steps)


PREFIX = "query_index_"
# A new index is used after so many seconds, and one that was dropped is not relied upon any more.
_KEPT_SECONDS = 10.0
# Invalid ones are those whose creation failed or is under way.
_NAMES = Sql("""
SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
 WHERE indrelid = 'document'::regclass AND indisvalid AND starts_with(relname, %(prefix)s)
""").with_values(prefix=PREFIX)


@dataclass(frozen=True, slots=True)
class IndexColumn:
    """A column of an index: the value at a path, `descending` in indexes of an order of several values, or its text in
    lower case, for prefixes."""

    path: JsonPath
    is_text: bool = False
    descending: bool = False

    def __str__(self) -> str:
        text = f"-{self.path.without_root()}" if self.descending else self.path.without_root()
        return f"{text}[prefix]" if self.is_text else text


@dataclass(frozen=True, slots=True)
class QueryIndex:
    """An index of the documents of one resource in the order of the values, then of row ids."""

    resource: Resource
    values: tuple[IndexColumn, ...]

    @property
    def name(self) -> str:
        """Unique for the definition."""
        return PREFIX + hashlib.blake2b(str(self).encode(), digest_size=12).hexdigest()

    def __str__(self) -> str:
        """Return the form that `create_query_index` takes: `ed-fi/students.lastSurname,-birthDate`, with the paths of
        values.
        """
        return f"{self.resource.url_path}.{','.join(map(str, self.values))}"

    def columns(self) -> Iterator[str]:
        """The indexed expressions. Row ids follow the direction of the first one, so that the index can be read in
        the opposite order as well."""
        for value in self.values:
            expression = text_at(value.path, row="") if value.is_text else value_at(value.path, row="")
            yield f"({expression}){' DESC' if value.descending else ''}"
        yield f"id{' DESC' if self.values[0].descending else ''}"

    def reversed(self) -> "QueryIndex":
        """The index that has the opposite order, which this one can replace."""
        values = (IndexColumn(each.path, each.is_text, not each.descending) for each in self.values)
        return QueryIndex(self.resource, tuple(values))


class _KnownIndexes:
    """The names of the valid indexes of a database, read again after some seconds."""

    def __init__(self, using: str) -> None:
        self._using = using
        self._names: frozenset[str] = frozenset()
        self._read_at = float("-inf")

    def names(self) -> frozenset[str]:
        now = time.monotonic()
        if now - self._read_at > _KEPT_SECONDS:
            self._names = frozenset(name for (name,) in run_with_retries(lambda: execute(_NAMES, self._using)))
            self._read_at = now
        return self._names


def is_indexed(index: QueryIndex, using: str) -> bool:
    """Return whether the database with this alias has the index, or one in the opposite order."""
    names = database_state(using).value(_KnownIndexes).names()
    return index.name in names or index.reversed().name in names
