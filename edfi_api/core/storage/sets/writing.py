"""Writes and deletes documents of one resource that do not depend on each other, under a policy, with few statements.

Only what is certain has a result. A row is written, or refused because targets are missing or another document has its
superclass identity. Rows that the policy denies, whose condition does not hold, or that a concurrent write has changed,
have none: the caller carries them out one at a time, which also finds out why they are refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple
from uuid import UUID

from django.db import IntegrityError, OperationalError

from edfi_api.core.storage import descriptor_uri_cache, resource_types
from edfi_api.core.storage.database_state import database_state
from edfi_api.core.storage.driver.execution import StatementAborted, execute
from edfi_api.core.storage.driver.sql import Sql, all_of, merged
from edfi_api.core.storage.exceptions import IdentityConflict
from edfi_api.core.storage.row_policy import SetConditions
from edfi_api.core.storage.rows import Row, executed_over, write_likely
from edfi_api.core.storage.sets import statements
from edfi_api.core.storage.sets.conflicts import Conflicts, Resolve, refusals, resolve
from edfi_api.core.storage.stored import Outcome, Written, recent_upserts
from edfi_api.core.storage.write_errors import missing_targets
from edfi_api.model.surface.resource import Resource
from references.exceptions import UnresolvedReference

_ATTEMPTS = 3


class Results(NamedTuple):
    """The results by position: what was written or is unchanged, and the conflicts of rows that the policy allows."""

    written: Mapping[int, Written]
    conflicts: Conflicts


def write(
    rows: Sequence[Row], conditions: SetConditions, using: str, client: int, resolve: Resolve = resolve
) -> Results:
    """The results by position in `rows`, which are descriptors, or of resources that are none. No two rows have a
    referential id in common. None refers to another, unless they are resolved together."""
    return _write(dict(enumerate(rows)), conditions, using, client, resolve)


def write_alike(rows: Sequence[Row], conditions: SetConditions, using: str, client: int) -> Results:
    """Write rows of one resource as `write` does. If its last documents were new, by the statement for new ones, which
    takes half the time, and by the others only what this has left.
    """
    all_rows, recent = dict(enumerate(rows)), database_state(using).value(recent_upserts)
    name = rows[0].document.resource.name
    may_be_new = {position: row for position, row in all_rows.items() if not row.expected_version}
    done: dict[int, Written] = {}
    if may_be_new and recent.likely(name) is Outcome.INSERTED:
        done = write_likely(may_be_new, Outcome.INSERTED, conditions, using, client)
    left = {position: row for position, row in all_rows.items() if position not in done}
    results = _write(left, conditions, using, client, resolve) if left else Results({}, Conflicts())
    written = {**done, **results.written}
    outcomes = [written[position].outcome for position in may_be_new if position in written]
    for outcome in outcomes[:1] + outcomes[-1:]:
        recent.add(name, outcome)
    return Results(written, results.conflicts)


def _write(rows: Mapping[int, Row], conditions: SetConditions, using: str, client: int, resolve: Resolve) -> Results:
    numbers = resource_types.numbers(using)
    staged = {position: row.staged(position, numbers[row.document.resource.name]) for position, row in rows.items()}
    composed = _Statements.under(conditions, client, keeps_keys=_are_descriptors(rows))
    for _ in range(_ATTEMPTS):
        try:
            conflicts = resolve(*_stored_state(rows, using))
            conflicting = conflicts.missing.keys() | conflicts.duplicates
            free = [each for position, each in staged.items() if position not in conflicting]
            written = {
                position: Written(Outcome(outcome), id_, version)
                for position, outcome, id_, version in executed_over(composed.write, free, using)
            }
            allowed = {row[0] for row in executed_over(composed.allowed, [staged[each] for each in conflicting], using)}
            return Results(written, _among(allowed, conflicts))
        except (IntegrityError, StatementAborted):
            continue  # A concurrent write is in the way.
        except OperationalError:
            break
    return Results({}, Conflicts())


def refused(
    rows: Sequence[Row], conflicts: Conflicts, using: str
) -> Iterator[tuple[int, IdentityConflict | UnresolvedReference]]:
    """Positions and refusals of the rows that conflict."""
    documents = {position: rows[position].document for position in (*conflicts.duplicates, *conflicts.missing)}
    return refusals(conflicts, documents, partial(missing_targets, using=using), using)


def delete_unreferenced(
    resource: Resource, document_uuids: Sequence[UUID], conditions: SetConditions, using: str, client: int
) -> set[UUID]:
    """Delete the documents, and return the ids of those that were deleted. What the policy denies, has changed, or is
    referred to by others is left: to delete it alone finds out why.
    """
    statement = (
        Sql(statements.DELETE_UNREFERENCED)
        .fill(is_allowed=conditions.using)
        .with_values(
            ids=list(document_uuids), resource_type=resource_types.numbers(using)[resource.name], client=client
        )
    )
    try:
        deleted = {id_ for (id_,) in execute(statement, using)}
    except (IntegrityError, OperationalError, StatementAborted):
        return set()  # A concurrent write is in the way of one of them.
    if resource.is_descriptor:
        descriptor_uri_cache.forget(using)
    return deleted


class _Statements(NamedTuple):
    """`write` writes rows, `allowed` finds those that the policy allows."""

    write: Sql
    allowed: Sql

    @classmethod
    def under(cls, conditions: SetConditions, client: int, *, keeps_keys: bool) -> "_Statements":
        stored, new = all_of([conditions.using, conditions.with_check]), conditions.with_check_new
        parameters = merged(stored.parameters, new.parameters)
        return cls(
            Sql(statements.authorized_write(stored.text, new.text, keeps_keys=keeps_keys), parameters).with_values(
                client=client
            ),
            Sql(statements.allowed(stored.text, new.text), parameters),
        )


def _are_descriptors(rows: Mapping[int, Row]) -> bool:
    """Return whether the rows are descriptors, which are never in one set with other resources."""
    return any(row.document.resource.is_descriptor for row in rows.values())


def _stored_state(
    rows: Mapping[int, Row], using: str
) -> tuple[dict[int, list[bytes]], dict[int, set[bytes]], set[int]]:
    """Return what `resolve` needs: referential ids, missing targets, and rows whose superclass identity is taken."""
    aliases = {position: row.document.identity.aliases for position, row in rows.items()}
    of_subclasses = chain.from_iterable(ids for ids in aliases.values() if len(ids) > 1)
    targets = {position: row.document.targets for position, row in rows.items()}
    wanted = {*chain.from_iterable(targets.values()), *of_subclasses}
    missing = missing_targets(wanted, using)
    not_stored = {
        position: {id_.bytes for id_ in ids if id_ in missing} for position, ids in targets.items() if missing
    }
    duplicates = {
        position
        for position, (own, *above) in aliases.items()
        if above and own in missing and any(each not in missing for each in above)
    }
    return (
        {position: [alias.bytes for alias in ids] for position, ids in aliases.items()},
        {position: ids for position, ids in not_stored.items() if ids},
        duplicates,
    )


def _among(positions: set[int], conflicts: Conflicts) -> Conflicts:
    missing = {position: ids for position, ids in conflicts.missing.items() if position in positions}
    return Conflicts(missing, conflicts.duplicates & positions)
