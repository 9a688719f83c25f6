"""Row-level authorization, in the terms of PostgreSQL's row security: `using` is the condition on stored rows,
`with_check` the condition on new values.

The conditions become part of the statement that reads or writes, so the check and the access are atomic. This module is
what storage and queries need of a policy; policies are made in `security`.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from edfi_api.core.storage.driver.sql import Sql, any_of
from edfi_api.model.surface.resource import JsonPath, ResourceName

# Row id → resource name of some documents → the row ids that the caller may read. Limits what errors name.
MayRead = Callable[[Mapping[int, ResourceName]], AbstractSet[int]]


class Clause(Enum):
    """The three conditions of a policy."""

    USING = "the stored document"
    WITH_CHECK = "the new values of a stored document"
    WITH_CHECK_NEW = "the values of a new document"


@dataclass(frozen=True, slots=True)
class AccessPath:
    """A path through indexes to the rows for which a condition holds, without scanning the others.

    The queries return `id`, in any order and possibly more than once, of rows of the resource type `%(type)s` with ids
    between `%(first)s` and `%(last)s`: `first_rows` at least the first `%(looked_at)s`, `all_rows` all of them.
    `remaining` is the condition on a row `d` that each still has to meet; None if there is none. `has_many_branches` is
    true if the path has so many branches that scanning the nearest rows first is worth it.
    """

    first_rows: Sql
    all_rows: Sql
    has_many_branches: Sql
    remaining: Sql | None


@dataclass(frozen=True, slots=True)
class IndexedValue:
    """A value of a column of `document` that has an index on resource type, column and row id."""

    column: str
    value: Sql


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition on rows `d` in equivalent forms; `%(type)s` is the number of their resource type.

    `for_one_row` is fast for a single row; `for_many_rows` can use an index or is fast for many rows; `alone`, if
    given, is faster when it is the only condition. `finds_few`: `for_many_rows` matches few rows of a resource.
    `in_row_order`, if given, is the value to which `for_one_row` compares a column: its index returns the rows in the
    order of row ids. `rows`, if given, is a query for the ids of exactly these rows between `%(first)s` and `%(last)s`,
    possibly more than once, which does not read the documents. `organizations`, if given, is a condition on the column
    `organization` that all these rows meet. `lacks_index`, if given, names the index without which the condition is
    evaluated for each row.
    """

    for_one_row: Sql
    for_many_rows: Sql
    alone: Sql | None = None
    access_path: AccessPath | None = None
    finds_few: bool = False
    in_row_order: IndexedValue | None = None
    organizations: Sql | None = None
    rows: Sql | None = None
    lacks_index: str | None = None


# The results of the tests, and the paths of references that do not resolve → the refusal, or None if all tests pass.
Refuse = Callable[[Sequence[bool], AbstractSet[JsonPath]], Exception | None]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Finds out why a clause denied access: boolean expressions for each possible reason, and the refusal that follows
    from their values."""

    tests: tuple[Sql, ...]
    refuse: Refuse


@dataclass(frozen=True, slots=True)
class SetConditions:
    """The conditions of a policy for many writes in one statement: `using` on stored rows `d`, the others on new values
    in rows `s`, which have the securable columns and the body."""

    using: Sql
    with_check: Sql
    with_check_new: Sql

    @classmethod
    def by_resource_type(cls, conditions: Mapping[int, "SetConditions"]) -> "SetConditions":
        """The conditions for documents of several resources, by the numbers of their types."""
        each = conditions.items()
        return cls(
            any_of(_of_type("d", number) + of_type.using for number, of_type in each),
            any_of(_of_type("s", number) + of_type.with_check for number, of_type in each),
            any_of(_of_type("s", number) + of_type.with_check_new for number, of_type in each),
        )


def _of_type(row: str, number: int) -> str:
    return f"{row}.resource_type_id = {number} AND "


NO_CONDITIONS = SetConditions(Sql("true"), Sql("true"), Sql("true"))


class RowPolicy(Protocol):
    """The documents on which a client may act. Immutable.

    Rows are named `d` and have the columns of `document`, or, for ReadChanges, of a history table with the column
    `key_values`. New values are the parameters of the statement that writes them: `body`, `linked`, `document_uuid`,
    `referential_id` and the securable columns.
    """

    @property
    def using(self) -> Sql:
        """The condition on stored rows; never NULL."""

    @property
    def using_on_versions(self) -> Sql:
        """`using` for former versions of a document, of a policy for ReadChanges: rows that have also the change
        versions at which each `began` and `ended` to be the current one; never NULL."""

    @property
    def with_check(self) -> Sql:
        """The condition on the new values of a stored document; never NULL."""

    @property
    def with_check_new(self) -> Sql:
        """The condition on a new document. Equal to `with_check` unless POST distinguishes Create from Update."""

    def for_sets(self) -> SetConditions | None:
        """The conditions for documents that are written together; None if a write of one of them may decide about
        another, so that they have to be written one after the other."""

    def predicate(self) -> Predicate:
        """`using` for collections. Raises a refusal if the client cannot be allowed to read any document."""

    def explanation(self, clause: Clause) -> Explanation:
        """Return why a clause denied access to one document."""
