"""What the API passes to the recorder of writes: references to values that requests have anyway."""

from typing import Any, NamedTuple, Protocol
from uuid import UUID

from edfi_api.core.documents.document_validator import DocumentValidator, PendingDocument, ValidatedDocument
from references.exceptions import MissingTarget

# Statuses of refusals whose reason is data or permissions. 401 has no client; 429 and 5xx are temporary.
RECORDED = frozenset({400, 403, 404, 405, 409, 412, 413, 415, 422})
# The type of the problem of a write that was accepted, of which custom rules warn.
ACCEPTED_WITH_WARNINGS = "accepted-with-warnings"
# The body of a larger request is not looked at for the identity of the document.
MOST_BODY_BYTES = 256 * 1024


class RefusedWrite(NamedTuple):
    """A write that was answered with a problem, or accepted with warnings, which are then written as a problem.

    `resource` is the path of the resource, or the path as sent without a `validator`. `sent` is the parsed body,
    `validated` what became of it, if it was valid; both None if they are not known. `at` is the time of the answer in
    seconds since 1970, `size` the bytes of the body. `data_store` is 0 for the admin database. `direction` is
    `sent` if another server has refused it; the client is that of the connection then. `rules` are the custom rules
    that have refused it, or warned of it.
    """

    client: int
    data_store: int
    resource: str
    validator: DocumentValidator | None
    operation: str
    problem: dict[str, Any]
    at: float
    size: int = 0
    is_batch: bool = False
    document_uuid: UUID | None = None
    sent: dict[str, Any] | None = None
    validated: ValidatedDocument | PendingDocument | None = None
    missing: tuple[MissingTarget, ...] = ()
    direction: str = "received"
    rules: tuple[str, ...] = ()


class AcceptedWrite(NamedTuple):
    """A write that succeeded: `ids` are referential ids and ids of the document, `at` the time when the request, the
    atomic batch or the operation of another batch began. `batch` is the correlation id of the batch, if there is one:
    operations of one batch come in their order, whatever their times are. With `has_warnings`, earlier warnings are
    not resolved by it."""

    client: int
    data_store: int
    resource: str
    ids: tuple[UUID, ...]
    at: float
    is_delete: bool = False
    batch: str = ""
    has_warnings: bool = False


class WriteRecorder(Protocol):
    """The class that the setting `WRITE_RECORDER` names. Its methods neither wait nor raise."""

    def record_refused(self, write: RefusedWrite) -> None:
        """Record a write that was refused, or accepted with warnings."""

    def count_accepted(self, client: int, data_store: int, resource: str, at: float) -> bool:
        """Count a write that succeeded. Return whether `record_accepted` is to be called with its ids."""

    def record_accepted(self, write: AcceptedWrite) -> None:
        """Record what was written, if `count_accepted` returned so."""
