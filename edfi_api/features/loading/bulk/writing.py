"""Writes one prepared batch as a set of storage.

Documents that conflict with a concurrent writer are written one by one with `store.upsert`, as for any client.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import Cursor
from psycopg.rows import TupleRow

from edfi_api.common.conf import api_settings
from edfi_api.core.documents import json_text
from edfi_api.core.documents.document_validator import ValidatedDocument
from edfi_api.core.storage import descriptor_uri_cache, store
from edfi_api.core.storage.driver.execution import StatementAborted, TooMuchContention
from edfi_api.core.storage.sets import REFUSALS, Refusal
from edfi_api.core.storage.sets.conflicts import Conflicts, Resolve, refusals, resolve, resolve_together
from edfi_api.core.storage.sets.staging import MetConcurrentWrites, of_rows, one_transaction, write_staged
from edfi_api.core.storage.stored import Outcome, StoredDocument, stored_documents
from edfi_api.core.storage.write_errors import missing_targets
from edfi_api.core.storage.write_requests import WriteRequest
from edfi_api.core.writes.rules.configured import rules_of
from edfi_api.core.writes.rules.enforcing import WriteCheck
from edfi_api.core.writes.rules.ruled_write import NOBODY, Finding
from edfi_api.features.loading.bulk.candidates import Candidate, PreservedFields, pop_imported
from edfi_api.features.loading.bulk.preparation import (
    Batch,
    DocumentValidatorsOnDemand,
    Prepared,
    UrisById,
    are_descriptors,
)
from edfi_api.model.surface.resource import Resource

Results = dict[int, Outcome | Refusal]

_REPLACED = (Outcome.UPDATED, Outcome.UNCHANGED, Outcome.DIFFERENT, Outcome.REPEATED)


class BatchWriter:
    """Writes the batches of one load, each in one transaction on the connection of the calling thread."""

    # Whether several threads may write at a time.
    is_concurrent = True
    # The client that custom rules learn of.
    writing_client = NOBODY
    # How often a batch is written that meets other writers, before its documents are written one by one.
    attempts = 3

    def __init__(
        self,
        using: str,
        client: int | None = None,
        preserved: PreservedFields = PreservedFields.NOTHING,
        *,
        skips_rules: bool = False,
    ) -> None:
        self.preserved = preserved
        self.skips_rules = skips_rules
        # If given, the change version at which the load began, and stored documents stay as they are.
        self.leaves_since: int | None = None
        self._using = using
        self._client = client
        self._stored_uris = partial(descriptor_uri_cache.stored_uris, using=using)
        self._validators = DocumentValidatorsOnDemand()

    def differing_uris(self, prepared: Prepared) -> UrisById:
        """The stored URIs of the batch's descriptors that differ in case, by referential id."""
        stored = self._stored_uris({id_ for id_, _ in prepared.descriptors})
        return {id_: stored[id_] for id_, used in prepared.descriptors if stored.get(id_, used) != used}

    def looks_up(self, resource: Resource) -> bool:
        """Return whether custom rules may look at what was written before documents of the resource."""
        check = self._check(resource)
        return check is not None and check.looks_up

    def goes_alone(self, resource: Resource) -> bool:
        """Return whether they may look at other documents of the resource itself."""
        check = self._check(resource)
        return check is not None and check.looks_at_own

    def write(self, batch: Batch, prepared: Prepared, resolve: Resolve = resolve) -> Results:
        """The result of each candidate by its position, as if they were written one by one."""
        if api_settings.WRITE_RULES and any(self.looks_up(each.resource) for each in batch):
            return self._write_under_rules(batch, prepared, resolve)
        return self._write(batch, prepared, resolve)

    def _write(self, batch: Batch, prepared: Prepared, resolve: Resolve) -> Results:
        conflicts, outcomes = self._write_at_once(batch, prepared, resolve)
        results: Results = {**prepared.refusals, **outcomes, **dict(self._refusals(batch, conflicts))}
        if len(results) < len(batch):
            for position in sorted(prepared.aliases.keys() - results.keys()):
                results[position] = self._write_alone(batch[position])
        return results

    def _write_at_once(
        self, batch: Batch, prepared: Prepared, resolve: Resolve
    ) -> tuple[Conflicts, dict[int, Outcome]]:
        for _ in range(self.attempts if prepared.aliases else 0):
            try:
                with one_transaction(self._using) as cursor:
                    return self._write_staged(cursor, batch, prepared, resolve)
            except MetConcurrentWrites:
                continue
        return Conflicts(), {}

    def _write_staged(
        self, cursor: Cursor[TupleRow], batch: Batch, prepared: Prepared, resolve: Resolve
    ) -> tuple[Conflicts, dict[int, Outcome]]:
        """Write in the open transaction. Raises MetConcurrentWrites."""
        statement = of_rows(keeps_keys=are_descriptors(batch), began=self.leaves_since)
        return write_staged(cursor, prepared.lines, prepared.aliases, resolve, self._client, statement=statement)

    def _refusals(self, batch: Batch, conflicts: Conflicts) -> Iterator[tuple[int, Refusal]]:
        validated = {position: self._validated(batch[position]) for position in conflicts.duplicates}
        for position in conflicts.missing:
            candidate = batch[position]
            validated[position] = self._validators.of(candidate.resource).validate_new(
                self._body(candidate), lambda _: {}
            )
        return refusals(conflicts, validated, self._missing, self._using)

    def _missing(self, ids: Iterable[UUID]) -> set[UUID]:
        """Return the ids that belong to no document."""
        return missing_targets(ids, self._using)

    def _write_alone(self, candidate: Candidate[Any]) -> Outcome | Refusal:
        try:
            request = WriteRequest(self._validated(candidate), client=self._client, using=self._using)
            return store.upsert(request).outcome
        except REFUSALS as error:
            refusal: Refusal = error
            return refusal

    def _check(self, resource: Resource) -> WriteCheck | None:
        if self.skips_rules or not api_settings.WRITE_RULES:
            return None
        rules = rules_of(resource)
        return None if rules is None else WriteCheck(rules, self.writing_client, is_timed=False)

    def _write_under_rules(self, batch: Batch, prepared: Prepared, resolve: Resolve) -> Results:
        """Write a batch in one transaction with the rules that look up other documents. They do not look at others of
        the batch, unless these are those of circles, of which rules do not see each other."""
        for _ in range(self.attempts):
            with suppress(MetConcurrentWrites, StatementAborted), one_transaction(self._using):
                judged = self._judged(batch, prepared, is_circle=resolve is resolve_together)
                results = self._write(batch, prepared.without(judged.refused), resolve)
                if any(results[position] in _REPLACED for position in judged.new):
                    raise MetConcurrentWrites  # The rules were not given what is replaced.
                prepared.add_warnings(judged.warnings)
                return results
        return {**dict.fromkeys(prepared.aliases, TooMuchContention()), **prepared.refusals}

    def _judged(self, batch: Batch, prepared: Prepared, *, is_circle: bool) -> "_Judged":
        """Return what rules find, in documents that are not stored, or are locked."""
        looked_up = [position for position in prepared.aliases if self.looks_up(batch[position].resource)]
        documents = {position: self._validated(batch[position]) for position in looked_up}
        ids = chain.from_iterable(each.targets for each in documents.values())
        missing = set() if is_circle else missing_targets(ids, self._using)
        bodies = self._stored([each.identity.referential_id for each in documents.values()])
        referred = self._referred(documents.values())
        judged = _Judged({}, {}, set())
        for position, validated in documents.items():
            if missing.intersection(validated.targets) - set(validated.identity.aliases):
                continue  # Refused for that.
            self._check_rules(position, validated, bodies, referred, judged)
        return judged

    def _check_rules(
        self,
        position: int,
        validated: ValidatedDocument,
        bodies: dict[UUID, dict[str, Any]],
        referred: Mapping[UUID, StoredDocument],
        judged: "_Judged",
    ) -> None:
        check, own = self._check(validated.resource), validated.identity.referential_id
        assert check is not None  # noqa: S101  Its rules look up.
        stored = bodies.get(own)
        try:
            check.others(self._using, referred)(validated, stored)
        except REFUSALS as refusal:
            judged.refused[position] = refusal
            return
        judged.warnings[position] = check.warnings
        if stored is None:
            judged.new.add(position)
        bodies[own] = validated.body  # A further version of the document replaces it.

    def _referred(self, documents: Iterable[ValidatedDocument]) -> dict[UUID, StoredDocument]:
        """The targets of references that rules are known to follow."""
        ids: set[UUID] = set()
        for each in documents:
            check = self._check(each.resource)
            followed = check.followed if check else frozenset()
            ids.update(reference.referential_id for reference in each.references if reference.steps in followed)
        return stored_documents(ids, self._using) if ids else {}

    def _stored(self, ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
        """The bodies of the documents with these referential ids, which are locked."""
        return {id_: json_text.loads(body) for id_, body in store.locked_bodies(ids, self._using).items()}

    def _validated(self, candidate: Candidate[Any]) -> ValidatedDocument:
        return self._validators.of(candidate.resource).validate(self._body(candidate), self._stored_uris)

    def _body(self, candidate: Candidate[Any]) -> dict[str, Any]:
        """Return the body of a candidate without what it brings with it."""
        body = candidate.body
        pop_imported(body, self.preserved)
        return body


class _Judged(NamedTuple):
    """The refusals and warnings of rules, by position, and the positions of documents that were not stored then."""

    refused: dict[int, Refusal]
    warnings: dict[int, tuple[Finding, ...]]
    new: set[int]
