"""Carries out stretches of operations in sets, as far as their results are certain.

A stretch are consecutive operations of one resource and one kind. It is cut into runs, whose operations do not depend
on each other: none provides, removes or refers to what another one provides. A run is written or deleted by the same
statements; what they leave is carried out one at a time, behind the set, which decides nothing for it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from uuid_utils.compat import uuid7

from edfi_api.api.batch.operations import Kind, Operation, Result
from edfi_api.api.batch.singles import Singles
from edfi_api.api.viewsets.headers import condition_of
from edfi_api.documents.incoming import IncomingDocument
from edfi_api.documents.leniency import Leniency
from edfi_api.loading.bulk import sets
from edfi_api.loading.bulk.candidates import REFUSALS
from edfi_api.loading.bulk.conflicts import resolve_together
from edfi_api.model.surface.resource import Resource
from edfi_api.storage import resource_types
from edfi_api.storage.conditions import CONDITION_FAILURES, WriteCondition
from edfi_api.storage.deletions import delete_unreferenced
from edfi_api.storage.row_policy import NO_CONDITIONS, SetConditions
from edfi_api.storage.stored import Outcome, Written
from edfi_api.storage.stored_versions import StoredVersion, referential_ids, stored_versions

# Below it, a set costs more than its operations one at a time.
_FEWEST = 4
_MOST = 2_000
_MOST_BYTES = 2 * 2**20
# Of an update by natural key, while it is prepared.
_ANY_UUID = UUID(int=0)

# Operations, and the results of those that were carried out together, by position.
Run = tuple[Sequence[Operation], Mapping[int, Result]]


def stretches(operations: Iterable[Operation]) -> Iterator[list[Operation]]:
    """All operations in order, in stretches of bounded size."""
    stretch: list[Operation] = []
    size = 0
    for operation in operations:
        if stretch and (len(stretch) >= _MOST or size >= _MOST_BYTES or not _are_alike(stretch[0], operation)):
            yield stretch
            stretch, size = [], 0
        stretch.append(operation)
        size += operation.size
    if stretch:
        yield stretch


def _are_alike(one: Operation, other: Operation) -> bool:
    if one.resource is not other.resource or one.kind is None or other.kind is None:
        return False
    return one.kind.action == other.kind.action and not (_goes_alone(one) or _goes_alone(other))


def _goes_alone(operation: Operation) -> bool:
    """Whether the single request reads what is stored before it decides what to write."""
    has_id_by_key = operation.key is not None and "id" in (operation.document or ())
    return operation.resource is None or "CONTENT_TYPE" in operation.headers or has_id_by_key


@dataclass(slots=True)
class _Prepared:
    """An operation with its document, None if it is not valid or the operation goes alone for another reason."""

    operation: Operation
    incoming: IncomingDocument | None
    # Whether the natural key of the operation is not that of its document.
    changes_key: bool = False
    condition: WriteCondition = field(default_factory=WriteCondition)

    @property
    def own(self) -> set[int]:
        return {alias.int for alias in self.incoming.identity.aliases} if self.incoming else set()

    @property
    def targets(self) -> set[int]:
        return {target.int for target in self.incoming.targets} if self.incoming else set()


class Sets:
    """Carries out the sets of one batch."""

    def __init__(self, singles: Singles) -> None:
        self._singles = singles
        self._using = singles.using

    def runs(self, stretch: Sequence[Operation]) -> Iterator[Run]:
        """The runs of a stretch, each carried out when it is taken."""
        conditions = self._conditions(stretch)
        if conditions is None:
            yield stretch, {}
        elif stretch[0].kind is Kind.DELETE:
            yield stretch, self._deleted(stretch, conditions)
        else:
            prepared = [self._prepared(operation) for operation in stretch]
            for run in _independent(prepared):
                yield from self._in_place(run, conditions)

    def together(self, operations: Sequence[Operation]) -> list[Result]:
        """Write creates and upserts of any resources at once, so that they may refer to each other in circles; the
        results of those that were written."""
        by_type: dict[int, SetConditions] = {}
        rows: dict[int, sets.Row] = {}
        provided: set[int] = set()
        numbers = resource_types.numbers(self._using)
        prepared = [self._prepared(each) for each in operations if not _goes_alone(each)]
        known = stored_versions([_id(each) for each in prepared if each.condition.is_given], self._using)
        for place, each in enumerate(prepared):
            row, resource = _row(each, known), each.operation.resource
            conditions = self._conditions_of(each.operation)
            # Of several operations on one document the first one.
            if row is None or resource is None or conditions is None or not provided.isdisjoint(each.own):
                continue
            by_type[numbers[resource.name]] = conditions
            rows[place] = row
            provided |= each.own
        if not rows:
            return []
        conditions = SetConditions.by_resource_type(by_type)
        written = sets.write(list(rows.values()), conditions, self._using, self._singles.client, resolve_together)
        places = list(rows)
        return [self._result(prepared[places[number]].operation, found) for number, found in written.items()]

    def _conditions(self, stretch: Sequence[Operation]) -> SetConditions | None:
        """None if the operations have to be carried out one at a time."""
        first = stretch[0]
        if len(stretch) < _FEWEST or first.resource is None:
            return None
        if first.kind is Kind.DELETE and _refers_to_itself(first.resource):
            return None
        return self._conditions_of(first)

    def _conditions_of(self, operation: Operation) -> SetConditions | None:
        if self._singles.has_profiles:
            return None
        try:
            policy = self._singles.authorization(operation).policy
        except Exception:  # Refuses each of them, in words that a single request finds.
            return None
        return NO_CONDITIONS if policy is None else policy.for_sets()

    def _prepared(self, operation: Operation) -> _Prepared:
        assert operation.resource is not None  # noqa: S101  The stretch has one.
        document, preparer = operation.document, self._singles.preparer(operation.resource)
        leniency = Leniency(is_strict=True) if self._singles.is_strict else None
        if operation.refusal is not None or document is None:
            return _Prepared(operation, None)
        try:
            if operation.kind is not Kind.UPDATE:
                incoming = preparer.prepare_new(document, self._singles.stored_uris, leniency)
            elif _has_other_id(operation):
                return _Prepared(operation, None)
            else:
                uuid = operation.document_uuid or _ANY_UUID
                document = document | {"id": str(uuid)}
                incoming = preparer.prepare_replacement(document, uuid, self._singles.stored_uris, leniency)
        except REFUSALS:
            return _Prepared(operation, None)
        changes_key = operation.key is not None and (
            preparer.extractor.identity(operation.key).referential_id != incoming.identity.referential_id
        )
        return _Prepared(operation, incoming, changes_key, condition_of(operation.headers))

    def _in_place(self, run: list[_Prepared], conditions: SetConditions) -> Iterator[Run]:
        """Without what changes a key: this, and what follows it, is carried out one at a time."""
        known: Mapping[UUID, StoredVersion] = {}
        whole = run
        if run[0].operation.kind is Kind.UPDATE:
            known, kept = self._current(run)
            run = run[:kept]
        elif any(each.condition.is_given for each in run):
            known = stored_versions([_id(each) for each in run if each.incoming], self._using)
        yield [each.operation for each in run], self._written(run, known, conditions)
        if len(run) < len(whole):
            yield [each.operation for each in whole[len(run) :]], {}

    def _current(self, run: Sequence[_Prepared]) -> tuple[Mapping[UUID, StoredVersion], int]:
        """The stored documents by the referential ids of the new bodies, and how many updates there are in front of the
        first one that changes a key."""
        by_id = [each.operation.document_uuid for each in run if each.operation.document_uuid]
        identified = referential_ids(by_id, self._using)
        known = stored_versions([_id(each) for each in run if each.incoming], self._using)
        for number, each in enumerate(run):
            id_ = each.operation.document_uuid
            if each.changes_key or (each.incoming and id_ in identified and _id(each) not in identified[id_]):
                return known, number
        return known, len(run)

    def _written(
        self, run: Sequence[_Prepared], known: Mapping[UUID, StoredVersion], conditions: SetConditions
    ) -> Mapping[int, Result]:
        rows: list[sets.Row] = []
        operations: list[Operation] = []
        for each in run:
            if (row := _row(each, known)) is not None:
                rows.append(row)
                operations.append(each.operation)
        if len(rows) < _FEWEST:
            return {}
        written = sets.write(rows, conditions, self._using, self._singles.client)
        return {
            operations[number].position: self._result(operations[number], found) for number, found in written.items()
        }

    def _result(self, operation: Operation, written: Written) -> Result:
        status = 204 if operation.kind is Kind.UPDATE else 201 if written.outcome is Outcome.INSERTED else 200
        return self._singles.written(operation, status, written)

    def _deleted(self, stretch: Sequence[Operation], conditions: SetConditions) -> Mapping[int, Result]:
        resource = stretch[0].resource
        assert resource is not None  # noqa: S101  The stretch has one.
        operations: dict[UUID, Operation] = {}
        for operation, id_ in zip(stretch, self._ids(stretch), strict=True):
            if id_ is not None:
                operations.setdefault(id_, operation)  # A second delete of a document is decided behind the first.
        unconditional = [id_ for id_, operation in operations.items() if not operation.headers]
        if len(unconditional) < _FEWEST:
            return {}
        deleted = delete_unreferenced(resource, unconditional, conditions, self._using, self._singles.client)
        return {operations[id_].position: Result(operations[id_], 204, id=str(id_)) for id_ in deleted}

    def _ids(self, stretch: Sequence[Operation]) -> list[UUID | None]:
        """The ids of documents to delete; None where nothing can be deleted."""
        keys = {
            operation.position: self._singles.identity(operation).referential_id
            for operation in stretch
            if operation.key is not None
        }
        stored = stored_versions(keys.values(), self._using)
        return [
            stored[keys[operation.position]].document_uuid
            if keys.get(operation.position) in stored
            else operation.document_uuid
            for operation in stretch
        ]


def _row(prepared: _Prepared, known: Mapping[UUID, StoredVersion]) -> sets.Row | None:
    """None if the operation goes alone: the document is not valid or not there, or the condition does not hold."""
    operation, incoming = prepared.operation, prepared.incoming
    if incoming is None:
        return None
    found = known.get(incoming.identity.referential_id)
    if operation.kind is Kind.UPDATE and (found is None or operation.document_uuid not in (None, found.document_uuid)):
        return None
    expected = None
    if prepared.condition.is_given:
        try:
            expected = prepared.condition.expected_version(found.change_version if found else None)
        except CONDITION_FAILURES:
            return None
    elif operation.kind is Kind.UPDATE and found is not None:
        expected = found.change_version
    return sets.Row(incoming, uuid7(), expected)


def _independent(prepared: Iterable[_Prepared]) -> Iterator[list[_Prepared]]:
    """Cuts a stretch where an operation depends on one before it, or one before it on what it provides."""
    run: list[_Prepared] = []
    provided: set[int] = set()
    referred: set[int] = set()
    for each in prepared:
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


def _id(prepared: _Prepared) -> UUID:
    assert prepared.incoming is not None  # noqa: S101  Callers look before.
    return prepared.incoming.identity.referential_id


def _has_other_id(operation: Operation) -> bool:
    """Whether the document of an update has an `id` that is not, or may not be, that of the operation."""
    sent = (operation.document or {}).get("id")
    if sent is None:
        return False
    return not isinstance(sent, str) or sent.lower() != str(operation.document_uuid)


def _refers_to_itself(resource: Resource) -> bool:
    names = {resource.name, resource.superclass.name} if resource.superclass else {resource.name}
    return any(reference.target in names for reference in resource.references)
