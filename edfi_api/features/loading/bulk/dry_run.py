"""A load that writes nothing: the results that each document would have, with no lock on any document.

Batches are staged and compared with what is stored and with what the dry run has accepted before. Only a temporary
table is written, so clients and change queries notice nothing of it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.rows import TupleRow

from edfi_api.core.documents import json_text
from edfi_api.core.documents.extraction import DESCRIPTOR_KEY
from edfi_api.core.storage.sets import statements
from edfi_api.core.storage.sets.conflicts import Conflicts, Resolve
from edfi_api.core.storage.sets.staging import find_conflicts, one_transaction, rows_of, stage
from edfi_api.core.storage.stored import Outcome, stored_documents
from edfi_api.features.loading.bulk.accepted_documents import AcceptedDocuments
from edfi_api.features.loading.bulk.batches import Batch, are_descriptors
from edfi_api.features.loading.bulk.envelopes import PreservedFields
from edfi_api.features.loading.bulk.preparation import Prepared
from edfi_api.features.loading.bulk.writing import BatchWriter


class DryRun(BatchWriter):
    """Determines the results of batches, one after the other."""

    is_concurrent = False

    def __init__(
        self,
        using: str,
        accepted: AcceptedDocuments,
        preserved: PreservedFields = PreservedFields.NOTHING,
        *,
        skips_rules: bool = False,
    ) -> None:
        super().__init__(using, preserved=preserved, skips_rules=skips_rules)
        self._accepted = accepted

    def _write_at_once(
        self, batch: Batch, prepared: Prepared, resolve: Resolve
    ) -> tuple[Conflicts, dict[int, Outcome]]:
        if not prepared.aliases:
            return Conflicts(), {}
        with one_transaction(self._using) as cursor:
            have_envelopes = self.preserved is PreservedFields.ENVELOPES
            stage(cursor, prepared.lines, statements.COPY_IMPORTED if have_envelopes else statements.COPY)
            body = statements.body_of("s", keeps_keys=are_descriptors(batch))
            rows = rows_of(cursor, statements.COMPARED.format(body=body))
            is_stored = {position for position, _, _, is_same in rows if is_same is not None}
            conflicts = find_conflicts(cursor, prepared.aliases, self._resolve_with_accepted(resolve, is_stored))
        refused = conflicts.missing.keys() | conflicts.duplicates
        accepted = [row for row in rows if row[0] not in refused]
        return conflicts, dict(self._outcomes(accepted, prepared.aliases, keeps_keys=are_descriptors(batch)))

    def _missing(self, ids: Iterable[UUID]) -> set[UUID]:
        missing = super()._missing(ids)
        return missing - {UUID(bytes=id_) for id_ in self._accepted.among(id_.bytes for id_ in missing)}

    def _stored(self, ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
        """Return the stored documents without locks; what has been accepted before counts as stored."""
        stored = {id_: each.text for id_, each in stored_documents(ids, self._using).items()}
        accepted = {id_: body.encode() for id_ in ids if (body := self._accepted.body(id_.bytes)) is not None}
        return {id_: json_text.loads(text) for id_, text in (stored | accepted).items()}

    def _resolve_with_accepted(self, resolve: Resolve, is_stored: set[int]) -> Resolve:
        """Resolve as `resolve` does, after what has been accepted before counts as stored."""

        def resolved(
            aliases: Mapping[int, Sequence[bytes]], not_stored: Mapping[int, set[bytes]], duplicates: set[int]
        ) -> Conflicts:
            missing = {position: ids - self._accepted.among(ids) for position, ids in not_stored.items()}
            accepted_twice = {
                position
                for position, (own, *above) in aliases.items()
                if position not in is_stored and any(self._accepted.owner(id_) not in (None, own) for id_ in above)
            }
            return resolve(
                aliases, {position: ids for position, ids in missing.items() if ids}, duplicates | accepted_twice
            )

        return resolved

    def _outcomes(
        self, rows: Iterable[TupleRow], aliases: Mapping[int, tuple[bytes, ...]], *, keeps_keys: bool
    ) -> Iterator[tuple[int, Outcome]]:
        for position, resource_type, sent, is_same_as_stored in rows:
            earlier = self._accepted.body(aliases[position][0])
            body = _with_key_of(earlier, sent) if keeps_keys and earlier is not None else sent
            is_same = is_same_as_stored if earlier is None else earlier == body
            if is_same is False and self.leaves_since is not None:
                yield position, Outcome.DIFFERENT if earlier is None else Outcome.REPEATED
                continue
            self._accepted.add(aliases[position], resource_type, body)
            yield position, Outcome.INSERTED if is_same is None else Outcome.UNCHANGED if is_same else Outcome.UPDATED


def _with_key_of(stored: str, sent: str) -> str:
    """The body of a descriptor, as PostgreSQL writes it, with the key of the one that it replaces."""
    key = json.loads(stored)
    return json.dumps(json.loads(sent) | {name: key[name] for name in DESCRIPTOR_KEY}, ensure_ascii=False)
