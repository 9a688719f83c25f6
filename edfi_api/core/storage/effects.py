"""What follows from the outcome of a statement that writes: a result, another attempt, or a refusal."""

from collections.abc import Callable

from django.db import IntegrityError

from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.incoming import Preparers
from edfi_api.core.storage import cascade, policy_statements
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.exceptions import IdentityConflict, KeyChangeContradicts
from edfi_api.core.storage.requests import CONDITION_FAILURES, Values, WriteRequest
from edfi_api.core.storage.stored import Outcome, Written
from edfi_api.core.storage.write_errors import IneffectiveWrite, RefusedDelete, outcome_of

_DONE = frozenset({Outcome.INSERTED, Outcome.UPDATED, Outcome.UNCHANGED, Outcome.DELETED})
# Refusals that an attempt raises itself, and which others may precede.
_RAISED = (*CONDITION_FAILURES, DataValidationFailed, IdentityConflict, KeyChangeContradicts)


def effect_of(attempt: Callable[[], Written], refused: IneffectiveWrite | RefusedDelete) -> Written | None:
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


def replace_once(request: WriteRequest, values: Values, preparers: Preparers) -> Written:
    """One attempt of an update. Raises what `cascade.change_identity` does."""
    written = Written.of(execute(policy_statements.update(request.policy).bound_to(values), request.using))
    if written.outcome is Outcome.OTHER_IDENTITY and request.incoming.resource.allows_identity_updates:
        return cascade.change_identity(request, values, preparers)
    return written
