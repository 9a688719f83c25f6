"""Executes a batch: operations → results, in one transaction or independent of each other."""

import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from edfi_api.common import addresses
from edfi_api.core.documents.document_validator import DocumentValidators, ValidatedDocument
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.violations import Reason
from edfi_api.core.security.exceptions import NoRelationship
from edfi_api.core.storage.database_state import record_writer
from edfi_api.core.storage.driver.execution import TooMuchContention, ending_at_deadlock, execute, holding
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.exceptions import DocumentNotFound
from edfi_api.model.surface.ods_names import in_served_names
from edfi_api.model.surface.resource import Resource
from edfi_api.web.batch.answers import Answer, Failures
from edfi_api.web.batch.free_order import DependencyOrder, FreeRun, Sorting
from edfi_api.web.batch.natural_keys import NaturalKeys
from edfi_api.web.batch.operations import Attempt, Kind, Operation, OperationReader, Result, SentOperations, Summary
from edfi_api.web.batch.record import BatchFigures, RecordedOperations
from edfi_api.web.batch.sent_batch import BatchLimits, Body, Order, Parameters, Return
from edfi_api.web.batch.sets import Sets, chunks
from edfi_api.web.batch.singles import Singles, TransactionUris, attempt_of
from edfi_api.web.problem_details.catalog.served_names import error_in_served_names
from edfi_api.web.problem_details.hints.attempted_request import AttemptedRequest
from edfi_api.web.problem_details.http_exceptions import BatchFailed, BatchTimeout, ResourceNotFound
from edfi_api.web.problem_details.refused_requests import hints_if_any
from references.exceptions import UnresolvedReference

_KEY = {"key": 0x6261746368}
_AMONG_OTHERS = Sql("SELECT pg_advisory_xact_lock_shared(%(key)s::bigint) IS NULL", _KEY)
_TAKE_VERSIONS = Sql("SELECT count(nextval('change_version')) FROM generate_series(1, %(number)s::bigint)")
_WITHOUT_OTHERS = Sql("SELECT pg_advisory_xact_lock(%(key)s::bigint) IS NULL", _KEY)

# An operation would have provided a referential id, or a person whom an association opens to the client.
_Provided = int | tuple[str, str]
_PEOPLE = ("student", "contact", "staff")
# More than an atomic batch has by default. Each takes up to a kilobyte.
MOST_CAUSES = 5_000


class _Undone(Exception):
    """Rolls back what was only tried."""


@dataclass
class Batch:
    """A batch that is executed once."""

    body: Body
    parameters: Parameters
    reader: OperationReader
    singles: Singles
    natural_keys: NaturalKeys
    dependency_order: DependencyOrder
    figures: BatchFigures
    limits: BatchLimits
    # An atomic batch that conflicts with others may be repeated, then without concurrent atomic batches.
    is_repetition: bool = False
    may_be_repeated: bool = False

    def __post_init__(self) -> None:
        self.summary = Summary(len(self.body))
        self._sets = Sets(self.singles)
        self._hints = _HintedOperations(self.singles, looks_up=not self.parameters.is_atomic)
        self._causes = Causes(self.singles.validators, self.natural_keys)
        self._operations = SentOperations(self.reader, self.body)
        is_atomic = self.parameters.is_atomic
        self._recorded = RecordedOperations(self.singles, self._operations, self.figures, is_atomic=is_atomic)

    def carry_out_atomically(self, answer: Answer) -> None:
        """Add all results and the summary to the answer. Raises BatchFailed and BatchTimeout if nothing was written."""
        with closing(self._recorded):
            try:
                self._carry_out_all(answer)
            except BatchFailed:
                self.figures.is_rolled_back = True
                self._recorded.record_rolled_back()
                self._take_versions()
                raise
            except BatchTimeout:
                self.figures.is_rolled_back = True
                self._take_versions()
                raise
            self._recorded.record_committed()
        record_writer(self.singles.client, self.singles.using)
        answer.end(self.summary.members())

    def _take_versions(self) -> None:
        """Take the change versions that unchanged documents would have had: otherwise the newest version, which never
        goes back, says whether what the batch sent equals what is stored."""
        if self.singles.unchanged:
            execute(_TAKE_VERSIONS.with_values(number=self.singles.unchanged), self.singles.using)

    def carry_out_independently(self, answer: Answer) -> Iterator[bytes]:
        """Carry out the operations, and yield the answer in blocks. What is in one is on disk, and no transaction is
        open when it is taken.

        Raises BatchTimeout if nothing was done.
        """
        try:
            for result, refusal in self._attempts():
                self._note(result, refusal, answer)
                if answer.has_block:
                    yield answer.take()
        finally:
            record_writer(self.singles.client, self.singles.using)
        if self.summary.not_done and not self.summary.by_status:
            raise BatchTimeout
        answer.end(self.summary.members())
        yield answer.take()

    def results(self) -> Iterator[Result]:
        """Carry out the operations, and yield what becomes of each, independently of the others, for a caller in this
        process. Ends early when the time is over."""
        try:
            for result, refusal in self._attempts():
                self._record(result, refusal)
                yield result
        finally:
            record_writer(self.singles.client, self.singles.using)

    def try_all(self) -> list[Result]:
        """Return what would become of each operation: all are carried out in a transaction that is rolled back. Nothing
        is recorded."""
        found: list[Result] = []
        with suppress(_Undone), transaction.atomic(self.singles.using):
            for result, refusal in self._attempts():
                self._hints.add_hints(result, refusal)
                found.append(result)
            raise _Undone
        return found

    def _carry_out_all(self, answer: Answer) -> None:
        failures = Failures()
        with self._transaction():
            for result, refusal in self._attempts():
                self._note(result, refusal, answer)
                if result.is_refused:
                    failures.add(result)
                if result.is_temporary:
                    if self.may_be_repeated:
                        raise TooMuchContention
                    break
            if self._is_over() and self.summary.not_done:
                raise BatchTimeout
            if failures.count:
                raise BatchFailed(failures.named(), failures.count, failures.are_temporary)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Open the transaction of all operations."""
        if self.body.is_single:
            yield
            return
        lock = _WITHOUT_OTHERS if self.is_repetition else _AMONG_OTHERS
        with ending_at_deadlock(), holding(lock, self.singles.using):
            yield

    def _record(self, result: Result, refusal: Exception | None) -> None:
        self.summary.count(result)
        self.figures.add(result)
        self._hints.add_hints(result, refusal)
        self._recorded.note(result, refusal)

    def _note(self, result: Result, refusal: Exception | None, answer: Answer) -> None:
        self._record(result, refusal)
        resource = result.operation.resource
        if isinstance(uris := self.singles.stored_uris, TransactionUris) and resource and resource.is_descriptor:
            uris.forget()
        if result.is_refused or self.parameters.returned is Return.ALL:
            answer.add(result.members())
        else:
            answer.skip(result.operation.position)

    def _attempts(self) -> Iterator[Attempt]:
        """The results, by position in given order. Ends early when the time is over."""
        if self.parameters.order is Order.GIVEN:
            return self._carry_out(range(len(self.body)))
        singles = self.singles
        sorting = Sorting(self.dependency_order, self.natural_keys, singles.validators, singles.using)
        return FreeRun(sorting, self._sets, self._operations, self._carry_out, self.limits).attempts()

    def _carry_out(self, positions: Iterable[int]) -> Iterator[Attempt]:
        for chunk in chunks(positions, self._operations, self.limits.memory):
            if self._is_over():
                return
            for group, done in self._sets.groups(chunk):
                self.figures.sets += bool(done)
                for operation in group:
                    if operation.position in done:
                        yield self._traced(*done[operation.position])
                    elif self._is_over():
                        return
                    else:
                        yield self._alone(operation)
                if self._is_over():
                    return

    def _is_over(self) -> bool:
        return bool(time.monotonic() > self.limits.end)

    def _alone(self, operation: Operation) -> Attempt:
        self.figures.alone += 1
        return self._traced(*self.singles.attempted(operation))

    def _traced(self, result: Result, refusal: Exception | None) -> Attempt:
        """Return the result with the operation that caused a refusal."""
        if refusal is not None:
            result.caused_by = self._causes.of(result.operation, refusal)
            self._causes.add(result.operation)
        return result, refusal


class Causes:
    """The failed operations of one batch, by what they would have provided: an earlier one may have caused the failure
    of a later one. Of a long batch the first ones, so that its memory does not grow with what fails."""

    def __init__(self, validators: DocumentValidators, natural_keys: NaturalKeys) -> None:
        self._validators = validators
        self._natural_keys = natural_keys
        # Failed operations by the hash of what it would have provided, which takes a third of the memory.
        self._failed: dict[int, int] = {}
        self._number = 0

    def of(self, operation: Operation, refusal: Exception) -> int | None:
        """The position of the first operation that would have provided what this one lacks; None if there is none."""
        if operation.resource is None or not self._failed:
            return None
        missing = map(hash, self._missing_targets(operation, refusal))
        found = {self._failed[each] for each in missing if each in self._failed}
        return min(found - {operation.position}, default=None)

    def add(self, operation: Operation) -> None:
        """Record a failed operation, unless there are many."""
        if self._number < MOST_CAUSES:
            self._number += 1
            for provided in self._provided(operation):
                self._failed.setdefault(hash(provided), operation.position)

    def _missing_targets(self, operation: Operation, refusal: Exception) -> Iterable[_Provided]:
        match refusal:
            case UnresolvedReference():
                return (id_.int for id_ in refusal.ids)
            case NoRelationship():
                return self._people(operation)
            case DocumentNotFound() | ResourceNotFound() if operation.key is not None:
                # There is none, or an association that would have opened the path to it is missing.
                return [*self._own_ids(operation.resource, operation.key), *self._people_in(operation.key, operation)]
        return ()

    def _people(self, operation: Operation) -> list[_Provided]:
        """The people of the document, as far as the operation has it."""
        document = self._validated(operation)
        found = document.securables._asdict() if document else {}
        return [(kind, found[kind]) for kind in _PEOPLE if found.get(kind) is not None]

    def _provided(self, operation: Operation) -> Iterator[_Provided]:
        if operation.resource is None or operation.document is None or operation.kind is Kind.DELETE:
            return
        identity = self._natural_keys.part_of(operation.resource, operation.document)
        if identity is not None:
            yield from self._own_ids(operation.resource, identity)
        if operation.resource.authorization_pathways:
            yield from self._people_in(operation.document, operation)

    def _own_ids(self, resource: Resource | None, body: dict[str, Any]) -> list[_Provided]:
        assert resource is not None  # noqa: S101  Only of an operation that was understood.
        return [alias.int for alias in self._validators[resource.name].extractor.identity(body).aliases]

    def _people_in(self, body: dict[str, Any], operation: Operation) -> list[_Provided]:
        """The people of a document of the operation's resource with these members, which need not be valid."""
        assert operation.resource is not None  # noqa: S101  Only of an operation that was understood.
        securables = self._securables_of(operation.resource, body)
        return [(kind, securables[kind]) for kind in _PEOPLE if isinstance(securables.get(kind), str)]

    def _securables_of(self, resource: Resource, document: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._validators[resource.name].securables_of_sent(document)._asdict()
        except (AttributeError, KeyError, TypeError, ValueError):
            return {}

    def _validated(self, operation: Operation) -> ValidatedDocument | None:
        if operation.resource is None or operation.document is None:
            return None
        body = {name: value for name, value in operation.document.items() if name != "id"}
        try:
            return self._validators[operation.resource.name].validate(body, lambda _: {})
        except DataValidationFailed:
            return None


# Each may take some queries. In a batch with more refusals, most have the same reason.
_MOST_HINTED = 10


class _HintedOperations:
    """Adds hints to the first refused operations of a batch. `looks_up`: they may name what is stored, which an open
    transaction does not know for certain."""

    def __init__(self, singles: Singles, *, looks_up: bool) -> None:
        self._singles, self._looks_up = singles, looks_up
        self._left = _MOST_HINTED

    def add_hints(self, result: Result, refusal: Exception | None) -> None:
        """Add hints to the problem of a refused operation, which is replaced."""
        operation = result.operation
        if refusal is None or result.problem is None or result.status >= 500 or not self._left:
            return
        if operation.key is not None and isinstance(refusal, DocumentNotFound | ResourceNotFound):
            return  # The hints are about ids.
        self._left -= 1
        served = error_in_served_names(refusal, operation.resource)
        if hints := hints_if_any(served, lambda: self._attempt(result)):
            result.problem = result.problem | {"hints": hints}

    def _attempt(self, result: Result) -> AttemptedRequest:
        operation, singles = result.operation, self._singles
        resource = operation.resource
        is_profiled = singles.has_profiles or bool(operation.profile)
        return AttemptedRequest(
            method=attempt_of(operation).method,
            path=_path(operation),
            meta={"HTTP_IF_MATCH": operation.if_match or "", "HTTP_IF_NONE_MATCH": operation.if_none_match or ""},
            resource=resource,
            schema=None if is_profiled or resource is None else in_served_names(resource).json_schema,
            document=operation.document,
            unknown=tuple(each.path for each in result.tolerated if each.reason is Reason.UNKNOWN_MEMBER),
            surface=singles.surface,
            client=singles.user,
            using=singles.using if self._looks_up else None,
        )


def _path(operation: Operation) -> str:
    """The path of the single request."""
    if operation.resource is None:
        return f"/{addresses.DATA}/{operation.sent_resource.strip('/')}"
    path = f"/{addresses.DATA}{operation.resource.served_path}"
    return path if operation.document_uuid is None else f"{path}/{operation.document_uuid}"
