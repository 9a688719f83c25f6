"""Repeats a write until its outcome is final: returns what was written, retries what is stale, refuses the rest."""

from collections.abc import Callable
from contextlib import nullcontext, suppress

from django.db import IntegrityError

from edfi_api.storage.conditions import CONDITION_FAILURES
from edfi_api.storage.driver.execution import StatementAborted, attempts, holding
from edfi_api.storage.driver.sql import Sql
from edfi_api.storage.exceptions import IdentityConflict, KeyChangeContradicts, TooMuchContention
from edfi_api.storage.refusals import RefusedDelete, RefusedWrite, outcome_of
from edfi_api.storage.stored import Outcome, Written

_DONE = frozenset({Outcome.INSERTED, Outcome.UPDATED, Outcome.UNCHANGED, Outcome.DELETED})

_AT_ONCE = nullcontext()

# Refusals that an attempt raises itself, and which others may precede.
_RAISED = (*CONDITION_FAILURES, IdentityConflict, KeyChangeContradicts)


def settled(
    attempt: Callable[[], Written], refused: RefusedWrite | RefusedDelete, using: str, lock: Sql | None = None
) -> Written:
    """The result of the first attempt that has had an effect. Raises its refusal, or TooMuchContention.

    A write that waits for another one has read its snapshot before, so it is stale and has to be retried. The retries
    of many writers of one document could lose to each other; `lock`, which a retry takes first, queues them.
    """
    return repeated(lambda: final(attempt, refused), using, lock)


def repeated(attempt: Callable[[], Written | None], using: str, lock: Sql | None = None) -> Written:
    """The result of the first attempt that is final, as `settled`."""
    for number in attempts():
        with suppress(StatementAborted), holding(lock, using) if lock and number else _AT_ONCE:
            written = attempt()
            if written is not None:
                return written
    raise TooMuchContention


def final(attempt: Callable[[], Written], refused: RefusedWrite | RefusedDelete) -> Written | None:
    """The result of an attempt that has had an effect, None if it has to be repeated. Raises its refusal."""
    try:
        written = attempt()
    except IntegrityError as violation:
        written = Written(outcome_of(violation))
    except _RAISED as refusal:
        refused.refuse_for(refusal)
    if written.outcome in _DONE:
        return written
    refused.refuse(written.outcome)
    return None
