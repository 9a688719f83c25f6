"""Hands the operations of a batch to the recorder of writes: those of an atomic batch when it is known what became of
it."""

import time
from typing import Any

from edfi_api.api.batch.operations import Kind, Operation, Result
from edfi_api.api.batch.singles import Singles
from edfi_api.api.viewsets.recorded_writes import ids_of, missing_targets, recorder
from edfi_api.documents.incoming import Preparer
from edfi_api.refusals.observed import MOST_BODY_BYTES, RECORDED, AcceptedWrite, RefusedWrite, WriteRecorder

Note = tuple[Result, Exception | None]

_UNKNOWN_KIND = "unknown"


class RecordedOperations:
    """The operations of one attempt at a batch, which begins now."""

    def __init__(self, singles: Singles, *, is_atomic: bool) -> None:
        self._recorder = recorder()
        self._singles = singles
        self._is_atomic = is_atomic
        self._began = time.time()
        self._noted: list[Note] = []

    def note(self, result: Result, refusal: Exception | None) -> None:
        if self._recorder is None:
            return
        if self._is_atomic:
            self._noted.append((result, refusal))
        else:
            self._hand_over(result, refusal, self._recorder)

    def committed(self) -> None:
        """An atomic batch was written."""
        self._hand_over_noted(are_all=True)

    def rolled_back(self) -> None:
        """An atomic batch was not written: only what was refused by itself or as a consequence is recorded."""
        self._hand_over_noted(are_all=False)

    def _hand_over_noted(self, *, are_all: bool) -> None:
        if self._recorder is None:
            return
        for result, refusal in self._noted:
            if are_all or result.is_refused:
                self._hand_over(result, refusal, self._recorder)

    def _hand_over(self, result: Result, refusal: Exception | None, recorder: WriteRecorder) -> None:
        if not result.is_refused:
            self._accepted(result, recorder)
        elif result.status in RECORDED:
            recorder.refused(self._refused_write(result, refusal))

    def _refused_write(self, result: Result, refusal: Exception | None) -> RefusedWrite:
        operation = result.operation
        return RefusedWrite(
            client=self._singles.client,
            data_store=self._singles.data_store,
            resource=_resource(operation),
            preparer=self._preparer(operation),
            operation=operation.kind.value if operation.kind else _UNKNOWN_KIND,
            problem=result.problem or {},
            at=time.time(),
            size=operation.size,
            is_batch=True,
            document_uuid=operation.document_uuid,
            sent=_body(operation) if operation.size <= MOST_BODY_BYTES else None,
            missing=missing_targets(refusal) if refusal else (),
        )

    def _accepted(self, result: Result, recorder: WriteRecorder) -> None:
        operation, singles = result.operation, self._singles
        # An atomic batch is one write: what was refused since it began is not resolved by it.
        at, batch = (self._began, "") if self._is_atomic else (operation.began, singles.correlation_id)
        path = _resource(operation)
        if not recorder.accepted(singles.client, singles.data_store, path, at):
            return
        body, preparer = _body(operation), self._preparer(operation)
        known = preparer.partial_identity(body) if body and preparer else None
        ids = ids_of(None, result.id) if result.id else ()
        if known and known.referential_id:
            ids = (known.referential_id, *ids)
        is_delete = operation.kind is Kind.DELETE
        recorder.succeeded(AcceptedWrite(singles.client, singles.data_store, path, ids, at, is_delete, batch))

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
