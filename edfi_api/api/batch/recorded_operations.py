"""Hands the operations of a batch to the recorder of writes: those of an atomic batch when it is known what became of
it. Of these only what cannot be read again from the body is kept, problems in a file beyond a megabyte."""

import time
from tempfile import SpooledTemporaryFile
from typing import Any, NamedTuple

import orjson

from edfi_api.api.batch.envelope import SentOperations
from edfi_api.api.batch.operations import Kind, Operation, Result
from edfi_api.api.batch.singles import Singles
from edfi_api.api.viewsets.recorded_writes import ids_of, missing_targets, recorder
from edfi_api.documents.incoming import Preparer
from edfi_api.refusals.observed import MOST_BODY_BYTES, RECORDED, AcceptedWrite, RefusedWrite, WriteRecorder
from references.exceptions import MissingTarget

_UNKNOWN_KIND = "unknown"
_MOST_IN_MEMORY = 2**20


class _Noted(NamedTuple):
    """What became of an operation; its problem, if it has one, is the JSON text of this length in the file."""

    position: int
    path: str
    status: int
    id: str
    problem_length: int
    missing: tuple[MissingTarget, ...]


class RecordedOperations:
    """The operations of one attempt at a batch, which begins now."""

    def __init__(self, singles: Singles, operations: SentOperations, *, is_atomic: bool) -> None:
        self._recorder = recorder()
        self._singles = singles
        self._operations = operations
        self._is_atomic = is_atomic
        self._began = time.time()
        self._noted: list[_Noted] = []
        self._problems = SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115

    def note(self, result: Result, refusal: Exception | None) -> None:
        if self._recorder is None:
            return
        operation = result.operation
        missing = missing_targets(refusal) if refusal else ()
        if self._is_atomic:
            problem = orjson.dumps(result.problem) if result.problem else b""
            self._problems.write(problem)
            noted = (operation.position, _resource(operation), result.status, result.id)
            self._noted.append(_Noted(*noted, len(problem), missing))
        elif result.is_refused:
            self._refused(operation, result.status, result.problem or {}, missing, self._recorder)
        else:
            # Operations of one batch come in their order, whatever their times are.
            client, data_store, at = self._singles.client, self._singles.data_store, operation.began
            if self._recorder.accepted(client, data_store, _resource(operation), at):
                self._recorder.succeeded(self._accepted(operation, result.id, at, self._singles.correlation_id))

    def committed(self) -> None:
        """An atomic batch was written. It is one write: what was refused since it began is not resolved by it."""
        if self._recorder is None:
            return
        client, data_store, at = self._singles.client, self._singles.data_store, self._began
        for noted in self._noted:
            if self._recorder.accepted(client, data_store, noted.path, at):
                self._recorder.succeeded(self._accepted(self._operations.read(noted.position), noted.id, at))

    def rolled_back(self) -> None:
        """An atomic batch was not written: only what was refused by itself or as a consequence is recorded."""
        if self._recorder is None:
            return
        with self._problems as problems:
            problems.seek(0)
            for noted in self._noted:
                if noted.problem_length:
                    problem = orjson.loads(problems.read(noted.problem_length))
                    operation = self._operations.read(noted.position)
                    self._refused(operation, noted.status, problem, noted.missing, self._recorder)

    def _refused(
        self,
        operation: Operation,
        status: int,
        problem: dict[str, Any],
        missing: tuple[MissingTarget, ...],
        recorder: WriteRecorder,
    ) -> None:
        if status not in RECORDED:
            return
        recorder.refused(
            RefusedWrite(
                client=self._singles.client,
                data_store=self._singles.data_store,
                resource=_resource(operation),
                preparer=self._preparer(operation),
                operation=operation.kind.value if operation.kind else _UNKNOWN_KIND,
                problem=problem,
                at=time.time(),
                size=operation.size,
                is_batch=True,
                document_uuid=operation.document_uuid,
                sent=_body(operation) if operation.size <= MOST_BODY_BYTES else None,
                missing=missing,
            )
        )

    def _accepted(self, operation: Operation, id_: str, at: float, batch: str = "") -> AcceptedWrite:
        body, preparer = _body(operation), self._preparer(operation)
        known = preparer.partial_identity(body) if body and preparer else None
        ids = ids_of(None, id_) if id_ else ()
        if known and known.referential_id:
            ids = (known.referential_id, *ids)
        client, data_store, is_delete = self._singles.client, self._singles.data_store, operation.kind is Kind.DELETE
        return AcceptedWrite(client, data_store, _resource(operation), ids, at, is_delete, batch)

    def _preparer(self, operation: Operation) -> Preparer | None:
        return None if operation.resource is None else self._singles.preparer(operation.resource)


def _resource(operation: Operation) -> str:
    """The path of the resource; of an unknown one as it was sent, empty if it was not."""
    if operation.resource is not None:
        return operation.resource.url_path
    name = operation.sent_resource.strip("/")
    return name and f"/{name}"


def _body(operation: Operation) -> dict[str, Any] | None:
    return operation.document if operation.document is not None else operation.key
