"""Writes one prepared batch as a set of storage.

Documents that conflict with a concurrent writer are written one by one with `store.upsert`, as for any client.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

from edfi_api.documents.incoming import IncomingDocument
from edfi_api.loading.bulk.batches import Batch
from edfi_api.loading.bulk.candidates import Candidate
from edfi_api.loading.bulk.envelopes import PreservedFields, pop_imported
from edfi_api.loading.bulk.preparation import Prepared, PreparersOnDemand, UrisById
from edfi_api.storage import descriptor_casing, store
from edfi_api.storage.requests import WriteRequest
from edfi_api.storage.sets import REFUSALS, Refusal
from edfi_api.storage.sets.conflicts import Conflicts, Resolve, refusals, resolve
from edfi_api.storage.sets.staging import MetConcurrentWrites, one_transaction, write_staged
from edfi_api.storage.stored import Outcome
from references import resolution

Results = dict[int, Outcome | Refusal]

_ATTEMPTS = 3


class BatchWriter:
    """Writes the batches of one load, each in one transaction on the connection of the calling thread."""

    # Whether several threads may write at a time.
    is_concurrent = True

    def __init__(
        self, using: str, client: int | None = None, preserved: PreservedFields = PreservedFields.NOTHING
    ) -> None:
        self.preserved = preserved
        self._using = using
        self._client = client
        self._stored_uris = partial(descriptor_casing.stored_uris, using=using)
        self._preparers = PreparersOnDemand()

    def differing_uris(self, prepared: Prepared) -> UrisById:
        """The stored URIs of the batch's descriptors that differ in case, by referential id."""
        stored = self._stored_uris({id_ for id_, _ in prepared.descriptors})
        return {id_: stored[id_] for id_, used in prepared.descriptors if stored.get(id_, used) != used}

    def write(self, batch: Batch, prepared: Prepared, resolve: Resolve = resolve) -> Results:
        """The result of each candidate by its position, as if they were written one by one."""
        conflicts, outcomes = self._write_at_once(prepared, resolve)
        results: Results = {**prepared.refusals, **outcomes, **dict(self._refusals(batch, conflicts))}
        if len(results) < len(batch):
            for position in sorted(prepared.aliases.keys() - results.keys()):
                results[position] = self._write_alone(batch[position])
        return results

    def _write_at_once(self, prepared: Prepared, resolve: Resolve) -> tuple[Conflicts, dict[int, Outcome]]:
        for _ in range(_ATTEMPTS if prepared.aliases else 0):
            try:
                with one_transaction(self._using) as cursor:
                    return write_staged(cursor, prepared.lines, prepared.aliases, resolve, self._client)
            except MetConcurrentWrites:
                continue
        return Conflicts(), {}

    def _refusals(self, batch: Batch, conflicts: Conflicts) -> Iterator[tuple[int, Refusal]]:
        incoming = {position: self._incoming(batch[position]) for position in conflicts.duplicates}
        for position in conflicts.missing:
            candidate = batch[position]
            incoming[position] = self._preparers.of(candidate.resource).prepare_new(self._body(candidate), lambda _: {})
        return refusals(conflicts, incoming, self._missing, self._using)

    def _missing(self, ids: Iterable[UUID]) -> set[UUID]:
        """Those that belong to no document."""
        return resolution.missing(ids, self._using)

    def _write_alone(self, candidate: Candidate[Any]) -> Outcome | Refusal:
        try:
            request = WriteRequest(self._incoming(candidate), client=self._client, using=self._using)
            return store.upsert(request).outcome
        except REFUSALS as error:
            refusal: Refusal = error
            return refusal

    def _incoming(self, candidate: Candidate[Any]) -> IncomingDocument:
        return self._preparers.of(candidate.resource).prepare(self._body(candidate), self._stored_uris)

    def _body(self, candidate: Candidate[Any]) -> dict[str, Any]:
        """Without what it brings with it."""
        body = candidate.body
        pop_imported(body, self.preserved)
        return body
