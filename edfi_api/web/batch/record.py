"""What is recorded of a batch: for operators facts for metrics, a line in the log and denials in the audit log; for the
recorder of writes its operations, those of an atomic batch when it is known what became of it."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from tempfile import SpooledTemporaryFile
from typing import Any, NamedTuple

import orjson
from django.http import HttpRequest

from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import log_facts
from edfi_api.common.logs.remote_address import remote_address
from edfi_api.core.documents.document_validator import DocumentValidator
from edfi_api.web.batch.operations import Kind, Operation, Result, SentOperations
from edfi_api.web.batch.sent_batch import Parameters
from edfi_api.web.batch.singles import Singles
from edfi_api.web.viewsets.recorded_writes import (
    ids_of,
    missing_targets,
    problem_of_warnings,
    recorder,
    refusing_rules,
    rules_of_findings,
)
from edfi_api.web.write_recorder import MOST_BODY_BYTES, RECORDED, AcceptedWrite, RefusedWrite, WriteRecorder
from references.exceptions import MissingTarget

_MOST_DENIALS = 20
_MOST_CAUSES = 1_000
_log = logging.getLogger("meadowlark.requests")
_UNKNOWN = "unknown"
_MOST_IN_MEMORY = 2**20


@dataclass
class BatchFigures:
    """Counts of one batch. The middleware that counts requests finds it as `request.batch`."""

    request: HttpRequest
    parameters: Parameters
    operations: int
    # Statements that wrote or deleted many documents, and operations that were carried out as single requests.
    sets: int = 0
    alone: int = 0
    refused: int = 0
    seconds: float = 0
    # Counts by operation, path of the resource, and status.
    results: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    # How many of the accepted ones had been stored before, by path of the resource.
    unchanged: Counter[str] = field(default_factory=Counter)
    # Refused operations that have a cause in common: their number, and the first of them.
    refusals: dict[Hashable, list[Any]] = field(default_factory=dict)
    # Whether nothing of it was written.
    is_rolled_back: bool = False

    def __post_init__(self) -> None:
        self._began = time.perf_counter()
        self._denied = 0
        # The audit log reads these; it has those of the last attempt alone.
        self._denials: list[dict[str, object]] = []
        self._count_when_ended: Callable[[BatchFigures], None] | None = None
        self._has_ended = False
        self.request.batch = self  # type: ignore[attr-defined]

    def call_when_ended(self, count: Callable[["BatchFigures"], None]) -> None:
        """Call `count` when the batch has ended: at once, or while its answer is sent."""
        if self._has_ended:
            count(self)
        else:
            self._count_when_ended = count

    def begin(self) -> None:
        """Begin an attempt: what an earlier one counted was rolled back."""
        self.is_rolled_back = False
        self.sets = self.alone = self.refused = self._denied = 0
        for counted in (self.results, self.unchanged, self.refusals, self._denials):
            counted.clear()

    def add(self, result: Result) -> None:
        operation = result.operation
        kind = operation.kind.value if operation.kind else _UNKNOWN
        route = operation.resource.url_path if operation.resource else _UNKNOWN
        self.results[kind, route, result.status] += 1
        if result.is_unchanged:
            self.unchanged[route] += 1
        self.refused += result.is_refused
        if result.status in audit.DENIALS:
            self._denied += 1
            if self._denied <= _MOST_DENIALS:
                self._denials.append({"status": result.status, "reason": _reason(result), "index": operation.position})

    def add_refusal(self, refused: RefusedWrite) -> None:
        """Count a refused operation by its cause. Those of further causes, when there are many, are counted together
        by their resource and problem; and by their problem alone when there are many resources, whose names may be
        anything that a client has sent."""
        problem = refused.problem
        kind = (refused.operation, problem.get("status"), problem.get("type"))
        violations = sha256(str(problem.get("validationErrors")).encode("utf-8", "surrogatepass")).digest()
        key: Hashable = (*kind, refused.resource, refused.missing[:1], violations)
        if key not in self.refusals and len(self.refusals) >= _MOST_CAUSES:
            key = (*kind, refused.resource)
        if key not in self.refusals and len(self.refusals) >= 2 * _MOST_CAUSES:
            key, refused = kind, refused._replace(resource=_UNKNOWN)
        counted = self.refusals.get(key)
        if counted is None:
            counted = self.refusals[key] = [0, _without_body(refused)]
        counted[0] += 1

    def end(self) -> None:
        """Write what is known in the end."""
        self.seconds = time.perf_counter() - self._began
        for denial in self._denials:
            self._audit(**denial)
        if self._denied > _MOST_DENIALS:
            self._audit(reason=f"{self._denied - _MOST_DENIALS} more operations of the batch")
        facts = {
            "event": "batch",
            "client": self._client,
            "mode": self.parameters.mode.value,
            "order": self.parameters.order.value,
            "operations": self.operations,
            "sets": self.sets,
            "alone": self.alone,
            "refused": self.refused,
            "seconds": round(self.seconds, 3),
        }
        log_facts(_log, logging.INFO, facts)
        self._has_ended = True
        if self._count_when_ended is not None:
            self._count_when_ended(self)

    def _audit(self, **facts: object) -> None:
        address = remote_address(self.request)
        correlation_id = getattr(self.request, "correlation_id", None)
        audit.log_denial(
            client=self._client, method="POST", path=self.request.path, address=address, batch=correlation_id, **facts
        )

    @property
    def _client(self) -> str | None:
        return getattr(self.request, "client_key", None)


def _reason(result: Result) -> str:
    problem = result.problem or {}
    return str(next(iter(problem.get("errors", ())), problem.get("detail", "")))


class _Noted(NamedTuple):
    """The noted result of an operation; its problem, if it has one, is the JSON text of this length in the file. Rules
    may have warned of an accepted one, and have written such a problem."""

    position: int
    path: str
    status: int
    id: str
    problem_length: int
    missing: tuple[MissingTarget, ...]
    rules: tuple[str, ...]


class RecordedOperations:
    """The operations of one attempt at a batch, which begins now. Of an atomic one only what cannot be read again from
    the body is kept, problems in a file beyond a megabyte."""

    def __init__(self, singles: Singles, operations: SentOperations, figures: BatchFigures, *, is_atomic: bool) -> None:
        self._recorder = recorder()
        self._figures = figures
        self._singles = singles
        self._operations = operations
        self._began = time.time()
        self._noted: list[_Noted] = []
        self._problems = SpooledTemporaryFile(_MOST_IN_MEMORY) if is_atomic else None  # noqa: SIM115

    def note(self, result: Result, refusal: Exception | None) -> None:
        operation = result.operation
        missing = missing_targets(refusal) if refusal else ()
        problem, rules = result.problem, refusing_rules(refusal) if refusal else ()
        if result.is_refused:
            self._figures.add_refusal(self._refused_write(operation, problem or {}, missing, rules))
        if self._recorder is None:
            return
        if result.warnings:
            problem = problem_of_warnings(result.warnings, result.status, self._singles.correlation_id)
            rules = rules_of_findings(result.warnings)
        if self._problems is not None:
            text = orjson.dumps(problem) if problem else b""
            self._problems.write(text)
            noted = (operation.position, _resource(operation), result.status, result.id)
            self._noted.append(_Noted(*noted, len(text), missing, rules))
        elif result.is_refused:
            if result.status in RECORDED:
                self._record_refused(operation, problem or {}, missing, rules, self._recorder)
        else:
            # Operations of one batch come in their order, whatever their times are.
            client, data_store, at = self._singles.client, self._singles.data_store, operation.began
            if self._recorder.count_accepted(client, data_store, _resource(operation), at):
                batch, has_warnings = self._singles.correlation_id, bool(problem)
                self._recorder.record_accepted(
                    self._accepted(operation, result.id, at, batch, has_warnings=has_warnings)
                )
            if problem:
                self._record_refused(operation, problem, (), rules, self._recorder)

    def close(self) -> None:
        """Delete the file of problems."""
        if self._problems is not None:
            self._problems.close()

    def record_committed(self) -> None:
        """Record an atomic batch that was written. It is one write: earlier refusals since it began stay."""
        if self._recorder is None:
            return
        client, data_store, at = self._singles.client, self._singles.data_store, self._began
        for noted, problem in self._with_problems():
            if self._recorder.count_accepted(client, data_store, noted.path, at):
                operation, has_warnings = self._operations.read(noted.position), problem is not None
                self._recorder.record_accepted(self._accepted(operation, noted.id, at, has_warnings=has_warnings))
            if problem is not None:
                self._record_refused(self._operations.read(noted.position), problem, (), noted.rules, self._recorder)

    def record_rolled_back(self) -> None:
        """Record an atomic batch that was not written: what was refused itself, or as a consequence."""
        if self._recorder is None:
            return
        for noted, problem in self._with_problems():
            if problem is not None and noted.status in RECORDED:
                operation = self._operations.read(noted.position)
                self._record_refused(operation, problem, noted.missing, noted.rules, self._recorder)

    def _with_problems(self) -> Iterator[tuple[_Noted, dict[str, Any] | None]]:
        """Yield what was noted, with the problem that it has."""
        if self._problems is None:
            return
        self._problems.seek(0)
        for noted in self._noted:
            length = noted.problem_length
            yield noted, orjson.loads(self._problems.read(length)) if length else None

    def _record_refused(
        self,
        operation: Operation,
        problem: dict[str, Any],
        missing: tuple[MissingTarget, ...],
        rules: tuple[str, ...],
        recorder: WriteRecorder,
    ) -> None:
        recorder.record_refused(self._refused_write(operation, problem, missing, rules))

    def _refused_write(
        self,
        operation: Operation,
        problem: dict[str, Any],
        missing: tuple[MissingTarget, ...],
        rules: tuple[str, ...],
    ) -> RefusedWrite:
        return RefusedWrite(
            client=self._singles.client,
            data_store=self._singles.data_store,
            resource=_resource(operation),
            validator=self._validator(operation),
            operation=operation.kind.value if operation.kind else _UNKNOWN,
            problem=problem,
            at=time.time(),
            size=operation.size,
            is_batch=True,
            document_uuid=operation.document_uuid,
            sent=_body(operation) if operation.size <= MOST_BODY_BYTES else None,
            missing=missing,
            rules=rules,
        )

    def _accepted(
        self, operation: Operation, id_: str, at: float, batch: str = "", *, has_warnings: bool = False
    ) -> AcceptedWrite:
        body, validator = _body(operation), self._validator(operation)
        known = validator.partial_identity(body) if body and validator else None
        ids = ids_of(None, id_) if id_ else ()
        if known and known.referential_id:
            ids = (known.referential_id, *ids)
        client, data_store, is_delete = self._singles.client, self._singles.data_store, operation.kind is Kind.DELETE
        return AcceptedWrite(client, data_store, _resource(operation), ids, at, is_delete, batch, has_warnings)

    def _validator(self, operation: Operation) -> DocumentValidator | None:
        return None if operation.resource is None else self._singles.validator(operation.resource)


def _resource(operation: Operation) -> str:
    """The path of the resource; of an unknown one as it was sent, empty if it was not."""
    if operation.resource is not None:
        return operation.resource.url_path
    name = operation.sent_resource.strip("/")
    return name and f"/{name}"


def _without_body(refused: RefusedWrite) -> RefusedWrite:
    """Return what is kept of one refusal of many: the first violation, and of the body the key of a target that is
    missing."""
    problem, missing = refused.problem, refused.missing[:1]
    if violations := problem.get("validationErrors"):
        problem = problem | {"validationErrors": dict([next(iter(violations.items()))])}
    if missing and refused.validator and refused.sent and missing[0].value is None and missing[0].referential_id:
        key = refused.validator.natural_key_of_target(refused.sent, missing[0].referential_id)
        missing = (replace(missing[0], value=key),)
    return refused._replace(problem=problem, missing=missing, sent=None)


def _body(operation: Operation) -> dict[str, Any] | None:
    return operation.document if operation.document is not None else operation.key
