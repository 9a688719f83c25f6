"""Hands the operations of a batch to the recorder of writes: those of an atomic batch when it is known what became of
it."""

import time

from edfi_api.api.batch.operations import Kind, Operation, Result
from edfi_api.api.batch.singles import Singles
from edfi_api.api.viewsets.recorded_writes import ids_of, missing_targets, recorder
from edfi_api.refusals.observed import MOST_BODY_BYTES, RECORDED, AcceptedWrite, RefusedWrite

Note = tuple[Result, Exception | None]


class RecordedOperations:
    """The operations of one attempt at a batch."""

    def __init__(self, singles: Singles, *, is_atomic: bool) -> None:
        self._recorder = recorder()
        self._singles = singles
        self._is_atomic = is_atomic
        self._noted: list[Note] = []

    def note(self, result: Result, refusal: Exception | None) -> None:
        if self._recorder is None:
            return
        if self._is_atomic:
            self._noted.append((result, refusal))
        else:
            self._hand_over(result, refusal)

    def committed(self) -> None:
        """An atomic batch was written."""
        for result, refusal in self._noted:
            self._hand_over(result, refusal)

    def rolled_back(self) -> None:
        """An atomic batch was not written: only what was refused by itself or as a consequence is recorded."""
        for result, refusal in self._noted:
            if result.is_refused:
                self._hand_over(result, refusal)

    def _hand_over(self, result: Result, refusal: Exception | None) -> None:
        operation = result.operation
        if operation.resource is None or operation.kind is None:
            return
        if not result.is_refused:
            self._accepted(result)
        elif result.status in RECORDED and self._recorder is not None:
            self._recorder.refused(self._refused_write(result, operation, operation.kind, refusal))

    def _refused_write(
        self, result: Result, operation: Operation, kind: Kind, refusal: Exception | None
    ) -> RefusedWrite:
        assert operation.resource is not None  # noqa: S101  `_hand_over` looks before.
        body = operation.document if operation.document is not None else operation.key
        return RefusedWrite(
            client=self._singles.client,
            data_store=self._singles.data_store,
            resource=operation.resource.url_path,
            preparer=self._singles.preparer(operation.resource),
            operation=kind.value,
            problem=result.problem or {},
            at=time.time(),
            size=operation.size,
            is_batch=True,
            document_uuid=operation.document_uuid,
            sent=body if operation.size <= MOST_BODY_BYTES else None,
            missing=missing_targets(refusal) if refusal else (),
        )

    def _accepted(self, result: Result) -> None:
        operation, singles = result.operation, self._singles
        if operation.resource is None or self._recorder is None:
            return
        at, path = time.time(), operation.resource.url_path
        if not self._recorder.accepted(singles.client, singles.data_store, path, at):
            return
        body = operation.document if operation.document is not None else operation.key
        known = singles.preparer(operation.resource).partial_identity(body) if body else None
        ids = ids_of(None, result.id) if result.id else ()
        if known and known.referential_id:
            ids = (known.referential_id, *ids)
        is_delete = operation.kind is Kind.DELETE
        self._recorder.succeeded(AcceptedWrite(singles.client, singles.data_store, path, ids, at, is_delete))
