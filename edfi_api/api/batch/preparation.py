"""Prepares the operations of a stretch for sets: their documents, and what refuses them without the database."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from uuid_utils.compat import uuid7

from edfi_api.api.batch.operations import Kind, Operation, without_frames
from edfi_api.api.batch.singles import Singles, tolerated_in
from edfi_api.api.viewsets.headers import condition_of
from edfi_api.documents.incoming import IncomingDocument
from edfi_api.documents.leniency import Leniency, Tolerated
from edfi_api.storage.conditions import WriteCondition
from edfi_api.storage.exceptions import DocumentNotFound, NothingToMatch
from edfi_api.storage.sets import REFUSALS, Row
from edfi_api.storage.stored_versions import StoredVersion

# Of an update by natural key, while it is prepared.
_ANY_UUID = UUID(int=0)


@dataclass(slots=True)
class PreparedOperation:
    """An operation with its document, None if it is not valid, for which there is a `refusal`, or if the operation goes
    alone for another reason."""

    operation: Operation
    incoming: IncomingDocument | None = None
    refusal: Exception | None = None
    # Whether the natural key of the operation is not that of its document.
    changes_key: bool = False
    condition: WriteCondition = field(default_factory=WriteCondition)
    tolerated: Sequence[Tolerated] = ()

    @property
    def own(self) -> set[int]:
        return {alias.int for alias in self.incoming.identity.aliases} if self.incoming else set()

    @property
    def targets(self) -> set[int]:
        return {target.int for target in self.incoming.targets} if self.incoming else set()

    @property
    def id(self) -> UUID:
        """The referential id of the document."""
        assert self.incoming is not None  # noqa: S101  Callers look before.
        return self.incoming.identity.referential_id

    def row(self, known: Mapping[UUID, StoredVersion]) -> Row:
        """The row to write. `known` has what is stored of updates, and of operations with conditions.

        Raises DocumentNotFound, NothingToMatch, and what `WriteCondition.expected_version` does.
        """
        operation, incoming = self.operation, self.incoming
        assert incoming is not None  # noqa: S101  Callers look before.
        found = known.get(self.id)
        if operation.kind is Kind.UPDATE and (
            found is None or operation.document_uuid not in (None, found.document_uuid)
        ):
            raise NothingToMatch if self.condition.needs_a_document else DocumentNotFound(incoming.resource)
        expected = None
        if self.condition.is_given:
            expected = self.condition.expected_version(found.change_version if found else None)
        elif operation.kind is Kind.UPDATE and found is not None:
            expected = found.change_version
        return Row(incoming, uuid7(), expected)


def goes_alone(operation: Operation) -> bool:
    """Whether the single request reads what is stored before it decides what to write."""
    has_id_by_key = operation.key is not None and "id" in (operation.document or ())
    return operation.resource is None or has_id_by_key or _is_under_a_profile(operation.headers)


def prepared(operation: Operation, singles: Singles) -> PreparedOperation:
    """As the single request would prepare it."""
    assert operation.resource is not None  # noqa: S101  The stretch has one.
    document, preparer = operation.document, singles.preparer(operation.resource)
    if operation.refusal is not None or document is None:
        return PreparedOperation(operation, refusal=operation.refusal)
    leniency = Leniency(singles.is_strict)
    try:
        if operation.kind is not Kind.UPDATE:
            incoming = preparer.prepare_new(document, singles.stored_uris, leniency)
        elif _has_other_id(operation):
            return PreparedOperation(operation)
        else:
            uuid = operation.document_uuid or _ANY_UUID
            document = document | {"id": str(uuid)}
            incoming = preparer.prepare_replacement(document, uuid, singles.stored_uris, leniency)
    except REFUSALS as refusal:
        return PreparedOperation(operation, refusal=without_frames(refusal), tolerated=tolerated_in(leniency))
    changes_key = operation.key is not None and (
        preparer.extractor.identity(operation.key).referential_id != incoming.identity.referential_id
    )
    condition = condition_of(operation.headers)
    return PreparedOperation(operation, incoming, None, changes_key, condition, tolerated_in(leniency))


def independent(operations: Iterable[PreparedOperation]) -> Iterator[list[PreparedOperation]]:
    """Cuts a stretch where an operation depends on one before it, or one before it on what it provides."""
    run: list[PreparedOperation] = []
    provided: set[int] = set()
    referred: set[int] = set()
    for each in operations:
        own, targets = each.own, each.targets
        refers_only_to_others = targets - own
        if run and not (provided.isdisjoint(own | targets) and referred.isdisjoint(own)):
            yield run
            run, provided, referred = [], set(), set()
        run.append(each)
        provided |= own
        referred |= refers_only_to_others
    if run:
        yield run


def _is_under_a_profile(headers: Mapping[str, str]) -> bool:
    """Whether it names a profile, or has a tag of what was read through one."""
    has_condition = "HTTP_IF_MATCH" in headers or "HTTP_IF_NONE_MATCH" in headers
    return "CONTENT_TYPE" in headers or (has_condition and bool(condition_of(headers).part_versions))


def _has_other_id(operation: Operation) -> bool:
    """Whether the document of an update has an `id` that is not, or may not be, that of the operation."""
    sent = (operation.document or {}).get("id")
    if sent is None:
        return False
    return not isinstance(sent, str) or sent.lower() != str(operation.document_uuid)
