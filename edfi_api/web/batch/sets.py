"""Carries out chunks of operations in sets, as far as their results are certain.

A chunk is a sequence of operations of one resource and kind. It is cut into groups, whose operations do not depend
on each other: none provides, removes or refers to what another one provides. A group is written or deleted by the same
statements; what they leave is carried out one at a time, after the set, which decides nothing for it. So is a resource
with custom rules that look up other documents: they see what operations before have written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from uuid_utils.compat import uuid7

from edfi_api.common.conf import api_settings
from edfi_api.core.documents.document_validator import ValidatedDocument, is_id_of, sent_id
from edfi_api.core.documents.violations import Tolerated
from edfi_api.core.storage import resource_types, sets
from edfi_api.core.storage.exceptions import DocumentNotFound, NothingToMatch
from edfi_api.core.storage.row_policy import NO_CONDITIONS, SetConditions
from edfi_api.core.storage.sets import REFUSALS, Row
from edfi_api.core.storage.sets.writing import delete_unreferenced
from edfi_api.core.storage.stored import StoredVersion, Written, referential_ids, stored_versions
from edfi_api.core.storage.write_requests import CONDITION_FAILURES, UNCONDITIONAL, WriteCondition
from edfi_api.core.writes.rules.enforcing import WriteCheck
from edfi_api.core.writes.writing import WrittenDocument
from edfi_api.model.surface.resource import Resource
from edfi_api.web.batch.operations import Attempt, Kind, Operation, Result, SentOperations, without_frames
from edfi_api.web.batch.singles import Singles, tolerated_in
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound

# Below it, a set costs more than its operations one at a time.
_FEWEST = 2
_MOST = 2_000

# Operations, and what became of those that were carried out together, by position.
Group = tuple[Sequence[Operation], Mapping[int, Attempt]]
# The id of an update by natural key while it is validated.
_ANY_UUID = UUID(int=0)


def chunks(positions: Iterable[int], operations: SentOperations, memory: int) -> Iterator[list[Operation]]:
    """The operations at these positions in order, in chunks that cost at most so many bytes of memory, or have one
    operation. An operation is read when what it costs is left."""
    chunk: list[Operation] = []
    left = memory
    for position in positions:
        if chunk and (len(chunk) >= _MOST or operations.cost(position) > left):
            yield chunk
            chunk, left = [], memory
        operation = operations.read(position)
        if chunk and not _are_alike(chunk[0], operation):
            yield chunk
            chunk, left = [], memory
        chunk.append(operation)
        left -= operations.cost(position)
    if chunk:
        yield chunk


def _are_alike(one: Operation, other: Operation) -> bool:
    if one.resource is not other.resource or one.kind is None or other.kind is None:
        return False
    return one.kind.action == other.kind.action and not (goes_alone(one) or goes_alone(other))


@dataclass(slots=True)
class ValidatedOperation:
    """An operation with its document, None if it is not valid, for which there is a `refusal`, or if the operation goes
    alone for another reason."""

    operation: Operation
    document: ValidatedDocument | None = None
    refusal: Exception | None = None
    # Whether the natural key of the operation is not that of its document.
    changes_key: bool = False
    condition: WriteCondition = UNCONDITIONAL
    tolerated: Sequence[Tolerated] = ()
    # Custom rules, of which those that read the document only have been run.
    check: WriteCheck | None = None

    @property
    def own(self) -> set[int]:
        return {alias.int for alias in self.document.identity.aliases} if self.document else set()

    @property
    def targets(self) -> set[int]:
        return {target.int for target in self.document.targets} if self.document else set()

    @property
    def id(self) -> UUID:
        """The referential id of the document."""
        assert self.document is not None  # noqa: S101  Callers look before.
        return self.document.identity.referential_id

    def row(self, known: Mapping[UUID, StoredVersion]) -> Row:
        """The row to write. `known` has what is stored of updates, and of operations with conditions.

        Raises DocumentNotFound, NothingToMatch, and what `WriteCondition.expected_version` does.
        """
        operation, document = self.operation, self.document
        assert document is not None  # noqa: S101  Callers look before.
        found = known.get(self.id)
        if operation.kind is Kind.UPDATE and (
            found is None or operation.document_uuid not in (None, found.document_uuid)
        ):
            raise NothingToMatch if self.condition.needs_a_document else DocumentNotFound(document.resource)
        expected = None
        if self.condition.is_given:
            expected = self.condition.expected_version(found.change_version if found else None)
        elif operation.kind is Kind.UPDATE and found is not None:
            expected = found.change_version
        return Row(document, uuid7(), expected)


class Sets:
    """Carries out the sets of one batch."""

    def __init__(self, singles: Singles) -> None:
        self._singles = singles
        self._using = singles.using

    def groups(self, chunk: Sequence[Operation]) -> Iterator[Group]:
        """The groups of a chunk, each carried out when it is taken."""
        conditions = self._conditions(chunk)
        if conditions is None:
            yield chunk, {}
        elif chunk[0].kind is Kind.DELETE:
            yield chunk, self._delete(chunk, conditions)
        else:
            for group in independent([validate(operation, self._singles) for operation in chunk]):
                yield from self._carry_out_in_place(group, conditions)

    def write_together(self, operations: Sequence[Operation]) -> list[Result]:
        """Write creates and upserts of any resources at once, so that they may refer to each other in circles; the
        results of those that were written."""
        by_type: dict[int, SetConditions] = {}
        rows: list[Row] = []
        written: list[ValidatedOperation] = []
        provided: set[int] = set()
        numbers = resource_types.numbers(self._using)
        allowed = [(each, self._conditions_of(each)) for each in operations if not goes_alone(each)]
        able = [(validate(each, self._singles), conditions) for each, conditions in allowed if conditions is not None]
        known = stored_versions([each.id for each, _ in able if each.condition.is_given], self._using)
        for each, conditions in able:
            resource = each.operation.resource
            # The first of several operations on one document counts.
            if resource is None or not provided.isdisjoint(each.own):
                continue
            if each.check is not None and each.check.looks_up:
                continue  # Alone, what it refers to does not exist.
            row = _row(each, known, conditions)
            if not isinstance(row, Row):
                continue
            if each.condition.names_versions and not self._may_read_what_it_writes(each.operation):
                continue
            by_type[numbers[resource.name]] = conditions
            rows.append(row)
            written.append(each)
            provided |= each.own
        if not rows:
            return []
        conditions = SetConditions.by_resource_type(by_type)
        found = sets.write(rows, conditions, self._using, self._singles.client, sets.resolve_together)
        return [self._result(written[number], each) for number, each in found.written.items()]

    def _conditions(self, chunk: Sequence[Operation]) -> SetConditions | None:
        """Return the conditions, or None if the operations have to be carried out one at a time."""
        first = chunk[0]
        if len(chunk) < _FEWEST or first.resource is None:
            return None
        if first.kind is Kind.DELETE and _refers_to_itself(first.resource):
            return None
        if api_settings.WRITE_RULES and first.kind is not Kind.DELETE:
            check = self._singles.check(first.resource)
            if check is not None and check.looks_up:
                return None
        if any(each.key is not None or each.condition.names_versions for each in chunk):
            return self._conditions_of(first) if self._may_read_what_it_writes(first) else None
        return self._conditions_of(first)

    def _may_read_what_it_writes(self, operation: Operation) -> bool:
        """Return whether the client may read each document of the resource that the operation may write; of others it
        learns neither whether they have a natural key nor their versions."""
        try:
            allowed = self._singles.authorization(operation)
            read_policy = allowed.read_policy()
        except Exception:  # Refuses each of them, in words that a single request finds.
            return False
        if read_policy is None:
            return True
        return allowed.policy is not None and allowed.policy.using == read_policy.using

    def _conditions_of(self, operation: Operation) -> SetConditions | None:
        if self._singles.has_profiles:
            return None
        try:
            policy = self._singles.authorization(operation).policy
        except Exception:  # Refuses each of them, in words that a single request finds.
            return None
        return NO_CONDITIONS if policy is None else policy.for_sets()

    def _carry_out_in_place(self, group: list[ValidatedOperation], conditions: SetConditions) -> Iterator[Group]:
        """Carry out what does not change a key; what does, and what follows it, is carried out one at a time."""
        known: Mapping[UUID, StoredVersion] = {}
        whole = group
        if group[0].operation.kind is Kind.UPDATE:
            known, kept = self._current(group)
            group = group[:kept]
        elif any(each.condition.is_given for each in group):
            known = stored_versions([each.id for each in group if each.document], self._using)
        yield [each.operation for each in group], self._carry_out(group, known, conditions)
        if len(group) < len(whole):
            yield [each.operation for each in whole[len(group) :]], {}

    def _current(self, group: Sequence[ValidatedOperation]) -> tuple[Mapping[UUID, StoredVersion], int]:
        """The stored documents by the referential ids of the new bodies, and how many updates there are before the
        first one that changes a key."""
        by_id = [each.operation.document_uuid for each in group if each.operation.document_uuid]
        identified = referential_ids(by_id, self._using)
        known = stored_versions([each.id for each in group if each.document], self._using)
        for number, each in enumerate(group):
            id_ = each.operation.document_uuid
            if each.changes_key or (each.document and id_ in identified and each.id not in identified[id_]):
                return known, number
        return known, len(group)

    def _carry_out(
        self, group: Sequence[ValidatedOperation], known: Mapping[UUID, StoredVersion], conditions: SetConditions
    ) -> Mapping[int, Attempt]:
        """Carry out a group, and return what has become of it, as far as that is certain."""
        done: dict[int, Attempt] = {}
        rows: list[Row] = []
        staged: list[ValidatedOperation] = []
        for each in group:
            found = _row(each, known, conditions)
            if isinstance(found, Row):
                rows.append(found)
                staged.append(each)
            elif found is not None:
                done[each.operation.position] = self._refused(each.operation, found, each.tolerated)
        if len(rows) < _FEWEST:
            return done
        results = sets.write_alike(rows, conditions, self._using, self._singles.client)
        for number, written in results.written.items():
            done[staged[number].operation.position] = self._result(staged[number], written), None
        for number, refusal in sets.refused(rows, results.conflicts, self._using):
            operation = staged[number].operation
            done[operation.position] = self._refused(operation, refusal, staged[number].tolerated)
        return done

    def _refused(self, operation: Operation, refusal: Exception, tolerated: Sequence[Tolerated] = ()) -> Attempt:
        result = self._singles.refused(operation, refusal)
        result.tolerated = tolerated
        return result, refusal

    def _result(self, validated: ValidatedOperation, written: Written) -> Result:
        warnings = () if validated.check is None else validated.check.warnings
        result = self._singles.written(validated.operation, WrittenDocument(*written, None, warnings))
        result.tolerated = validated.tolerated
        return result

    def _delete(self, chunk: Sequence[Operation], conditions: SetConditions) -> Mapping[int, Attempt]:
        resource = chunk[0].resource
        assert resource is not None  # noqa: S101  The chunk has one.
        # A second delete of a document is decided after the first.
        firsts: dict[UUID, Operation] = {}
        absent: list[Operation] = []
        done: dict[int, Attempt] = {}
        for operation, id_ in zip(chunk, self._ids(chunk), strict=True):
            if operation.refusal is not None:
                done[operation.position] = self._refused(operation, operation.refusal)
            elif id_ is not None:
                firsts.setdefault(id_, operation)
            elif not operation.has_condition:
                absent.append(operation)
        operations = {id_: operation for id_, operation in firsts.items() if not operation.has_condition}
        deleted: set[UUID] = set()
        if len(operations) >= _FEWEST:
            deleted = delete_unreferenced(resource, list(operations), conditions, self._using, self._singles.client)
        left = operations.keys() - deleted
        absent += [operations[id_] for id_ in left - referential_ids(left, self._using).keys()]
        done |= {each.position: self._refused(each, ResourceNotFound()) for each in absent}
        for id_ in deleted:
            done[operations[id_].position] = Result(operations[id_], 204, id=str(id_)), None
        return done

    def _ids(self, chunk: Sequence[Operation]) -> list[UUID | None]:
        """The ids of documents to delete; None where nothing can be deleted."""
        keys = {
            operation.position: self._singles.identity(operation).referential_id
            for operation in chunk
            if operation.key is not None
        }
        stored = stored_versions(keys.values(), self._using)
        return [
            stored[keys[operation.position]].document_uuid
            if keys.get(operation.position) in stored
            else operation.document_uuid
            for operation in chunk
        ]


def _row(
    validated: ValidatedOperation, known: Mapping[UUID, StoredVersion], conditions: SetConditions
) -> Row | Exception | None:
    """The row of an operation, or why it is refused; None if only the single request finds that out."""
    if validated.document is None:
        return validated.refusal
    try:
        return validated.row(known)
    except DocumentNotFound as refusal:
        return refusal
    except CONDITION_FAILURES as refusal:
        # A policy's refusal precedes it.
        return refusal if conditions is NO_CONDITIONS else None


def _refers_to_itself(resource: Resource) -> bool:
    names = {resource.name, resource.superclass.name} if resource.superclass else {resource.name}
    return any(reference.target in names for reference in resource.references)


def goes_alone(operation: Operation) -> bool:
    """Return whether the single request reads what is stored before it decides what to write."""
    has_id_by_key = operation.key is not None and sent_id(operation.document or {}) is not None
    return operation.resource is None or has_id_by_key or bool(operation.profile)


def validate(operation: Operation, singles: Singles) -> ValidatedOperation:
    """Validate the operation as the single request would."""
    assert operation.resource is not None  # noqa: S101  The chunk has one.
    body, validator = operation.document, singles.validator(operation.resource)
    check = singles.check(operation.resource) if api_settings.WRITE_RULES else None
    if operation.refusal is not None or body is None:
        return ValidatedOperation(operation, refusal=operation.refusal)
    leniency = singles.leniency()
    try:
        if operation.kind is not Kind.UPDATE:
            document = validator.validate_new(body, singles.stored_uris, leniency)
        elif _has_other_id(operation):
            return ValidatedOperation(operation)
        else:
            uuid = operation.document_uuid or _ANY_UUID
            body = body | {"id": str(uuid)}
            document = validator.validate_replacement(body, uuid, singles.stored_uris, leniency)
        if check is not None:
            check.check_document(document)
    except REFUSALS as refusal:
        return ValidatedOperation(operation, refusal=without_frames(refusal), tolerated=tolerated_in(leniency))
    changes_key = operation.key is not None and (
        validator.extractor.identity(operation.key).referential_id != document.identity.referential_id
    )
    condition = operation.condition
    return ValidatedOperation(operation, document, None, changes_key, condition, tolerated_in(leniency), check)


def independent(operations: Iterable[ValidatedOperation]) -> Iterator[list[ValidatedOperation]]:
    """Cuts a chunk where an operation depends on one before it, or one before it on what it provides."""
    group: list[ValidatedOperation] = []
    provided: set[int] = set()
    referred: set[int] = set()
    for each in operations:
        own, targets = each.own, each.targets
        refers_only_to_others = targets - own
        if group and not (provided.isdisjoint(own | targets) and referred.isdisjoint(own)):
            yield group
            group, provided, referred = [], set(), set()
        group.append(each)
        provided |= own
        referred |= refers_only_to_others
    if group:
        yield group


def _has_other_id(operation: Operation) -> bool:
    """Return whether the document of an update has an `id` that is not, or may not be, that of the operation."""
    document, uuid = operation.document or {}, operation.document_uuid
    if sent_id(document) is None:
        return False
    return uuid is None or not is_id_of(uuid, document.get("id"))
