"""Writes batches whose documents come with their envelopes from another server."""

from typing import Any

from psycopg import Cursor
from psycopg.rows import TupleRow

from edfi_api.core.storage.driver.exceptions import TooMuchContention
from edfi_api.core.storage.sets import Refusal
from edfi_api.core.storage.sets.conflicts import Conflicts, Resolve
from edfi_api.core.storage.sets.imported import write_imported
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk.batches import Batch, are_descriptors
from edfi_api.features.loading.bulk.candidates import Candidate
from edfi_api.features.loading.bulk.envelopes import PreservedFields
from edfi_api.features.loading.bulk.preparation import Prepared
from edfi_api.features.loading.bulk.writing import BatchWriter


class PreservingWriter(BatchWriter):
    """Writes batches as `BatchWriter` does. Documents of the change versions `changed_here`, a multirange of
    PostgreSQL, stay as they are: their outcome is STALE. It is OTHER_IDENTITY if a document with another key has the
    id.
    """

    # More than for other loads: a batch that meets other writers cannot be written one document at a time.
    attempts = 10

    def __init__(self, using: str, changed_here: str, *, skips_rules: bool = False) -> None:
        super().__init__(using, preserved=PreservedFields.ENVELOPES, skips_rules=skips_rules)
        self._changed_here = changed_here

    def _write_staged(
        self, cursor: Cursor[TupleRow], batch: Batch, prepared: Prepared, resolve: Resolve
    ) -> tuple[Conflicts, dict[int, Outcome]]:
        keeps_keys = are_descriptors(batch)
        return write_imported(
            cursor, prepared.lines, prepared.aliases, resolve, self._changed_here, keeps_keys=keeps_keys
        )

    def _write_alone(self, candidate: Candidate[Any]) -> Outcome | Refusal:
        """It would lose its envelope, so it is left to a later pass."""
        return TooMuchContention()
