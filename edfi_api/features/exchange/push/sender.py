"""Sends a segment of documents: upserts after what they refer to, then deletes, several requests at a time.

What is refused is tried again after the others as long as that helps: a person may perhaps be changed only after an
association of the same segment. What is refused in the end is recorded. Rows say what is known before the next request
depends on it, so that a process that is killed anywhere sends again, and loses nothing.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar
from uuid import UUID

from edfi_api.common.logs.printable import printable
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.served import current_surface
from edfi_api.core.storage.temporary_database import TemporaryDatabase
from edfi_api.features.exchange.push.fix_up_hooks import FixUpHooks, RefusedDocument
from edfi_api.features.exchange.push.outbound_changes import OutboundChange, delete, validator_of
from edfi_api.features.exchange.push.readable import ReadableDocuments
from edfi_api.features.exchange.push.sent_documents import SentDocuments, SentRow
from edfi_api.features.exchange.push.sent_refusals import SentRefusals, problem_of
from edfi_api.features.exchange.push.target import Attempt, Outcome, Target
from edfi_api.model.surface.resource import Resource, ResourceName, Surface
from references.exceptions import MissingTarget

_log = logging.getLogger(__name__)
_MOST_LOGGED, _LONGEST_LOGGED = 20, 100
_INVALID, _DENIED, _GONE = 400, 403, 404
_Each = TypeVar("_Each")


def levels_of_upserts(outbound_changes: Sequence[OutboundChange]) -> list[list[OutboundChange]]:
    """Levels within which no document depends on another, each after what it refers to. Documents that refer to each
    other in a circle are last."""
    owners = {identity: number for number, each in enumerate(outbound_changes) for identity in each.identities}
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for number, each in enumerate(outbound_changes):
        sorter.add(number, *({owners[target] for target in each.targets if target in owners} - {number}))
    levels = [[outbound_changes[number] for number in level] for level in _levels(sorter)]
    placed = {each.document_uuid for level in levels for each in level}
    circle = [each for each in outbound_changes if each.document_uuid not in placed]
    return [*levels, circle] if circle else levels


def levels_of_deletes(attempts: Iterable[Attempt], surface: Surface) -> list[list[Attempt]]:
    """Resource by resource, against the load order."""
    places = {resource.name: place for place, resource in enumerate(surface.resources)}
    by_place: dict[int, list[Attempt]] = {}
    for each in attempts:
        by_place.setdefault(places[each.outbound.resource.name], []).append(each)
    return [by_place[place] for place in sorted(by_place, reverse=True)]


def _levels(sorter: TopologicalSorter[int]) -> Iterable[list[int]]:
    with suppress(CycleError):  # What is neither part of a circle nor after one is sorted all the same.
        sorter.prepare()
    while level := sorter.get_ready():
        yield sorted(level)
        sorter.done(*level)


_SCHEMA = "CREATE TABLE refused (document BLOB PRIMARY KEY, is_denied INTEGER) WITHOUT ROWID;"


class RefusedOfRun(TemporaryDatabase):
    """Documents that a process has had refused and that are not accepted since, on disk, each once."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)

    def refuse(self, documents: Iterable[tuple[UUID, bool]]) -> None:
        """Record refused documents, each with whether it was denied."""
        rows = ((document.bytes, is_denied) for document, is_denied in documents)
        self._database.executemany("INSERT OR REPLACE INTO refused VALUES (?, ?)", rows)

    def accept(self, documents: Iterable[UUID]) -> None:
        self._database.executemany("DELETE FROM refused WHERE document = ?", ((each.bytes,) for each in documents))

    def numbers(self) -> tuple[int, int]:
        """Return how many were refused for other reasons, and how many were denied."""
        counts = dict(self._database.execute("SELECT is_denied, count(*) FROM refused GROUP BY is_denied"))
        return counts.get(0, 0), counts.get(1, 0)


# Statuses by which APIs say that a reference does not resolve.
_MAY_BE_UNRESOLVED = frozenset({400, 404, 409})


class MissingDependencies:
    """Finds what a refused document refers to and the remote API does not have, as far as that is known here.

    It looks among what a connection has sent: documents of these resources, without those that are refused now. Others
    may be there all the same, and are left out.
    """

    def __init__(self, sent: SentDocuments, resources: Iterable[Resource], refused: Iterable[Outcome]) -> None:
        self._sent = sent
        self._names = {name for each in resources for name in _names(each)}
        self._refused = frozenset[UUID]().union(*(each.outbound.identities for each in refused))

    def of(self, outcome: Outcome) -> list[MissingTarget]:
        """Return the missing targets in the order of the body."""
        outbound = outcome.outbound
        if outbound.is_delete or outcome.status not in _MAY_BE_UNRESOLVED:
            return []
        targets = self._targets(outbound)
        there = self._sent.identities_there(target.referential_id for target in targets if target.referential_id)
        return [each for each in targets if each.referential_id not in there - self._refused]

    def _targets(self, outbound: OutboundChange) -> list[MissingTarget]:
        try:
            references = validator_of(outbound.resource).extractor.references(outbound.body or {})
        except (DataValidationFailed, KeyError):
            return []
        own: Collection[UUID] = outbound.identities
        return [
            each.as_missing() for each in references if each.target in self._names and each.referential_id not in own
        ]


def _names(resource: Resource) -> list[ResourceName]:
    """The names by which references may refer to a resource."""
    return [resource.name, *([resource.superclass.name] if resource.superclass else [])]


@dataclass(slots=True)
class PushFigures:
    """Numbers of documents. `refused` are those that are not accepted since, `denied` count as warnings."""

    written: int = 0
    deleted: int = 0
    refused: int = 0
    denied: int = 0

    @property
    def accepted(self) -> int:
        return self.written + self.deleted


@dataclass(slots=True)
class _Segment:
    """The state of a segment: the rows that its documents had before, and what has become of them. `new` are
    documents that are there now and were not, or not as they are here."""

    rows: dict[UUID, SentRow]
    is_limited: bool
    refused: list[Outcome] = field(default_factory=list)
    new: set[UUID] = field(default_factory=set)
    deleted: set[UUID] = field(default_factory=set)

    def attempt(self, outbound: OutboundChange) -> Attempt:
        row = self.rows.get(outbound.document_uuid)
        if row is not None and row.remote_id is not None:
            return Attempt(outbound, row.remote_id)
        # One that has a former key there may be someone else's.
        may_have_been_there = not self.is_limited or (row is not None and not row.is_refused)
        return Attempt(outbound if may_have_been_there else replace(outbound, former_keys=()))

    def is_refused(self, document: UUID) -> bool:
        row = self.rows.get(document)
        return row is not None and row.is_refused

    def is_resolved_by(self, accepted: Outcome) -> bool:
        """Return whether the document was refused, and is not any more: not while one that it has replaced is there."""
        row = self.rows.get(accepted.outbound.document_uuid)
        if row is None or not row.is_refused:
            return False
        if accepted.attempt.is_of_former or accepted.outbound.is_delete:
            return True
        return not accepted.former_id and set(row.former_ids) <= {accepted.remote_id}

    def may_be_there(self, outbound: OutboundChange) -> bool:
        """Return whether this connection may have written the document. If it sends only a part of the documents, one
        that is there all the same may be someone else's."""
        return not self.is_limited or outbound.document_uuid in self.rows

    def is_obsolete(self, attempt: Attempt, others: Collection[str]) -> bool:
        """Return whether there is nothing to delete: another document has the id, or this one was never accepted."""
        if attempt.remote_id is not None:
            return attempt.remote_id in others
        return self.is_limited and self.is_refused(attempt.outbound.document_uuid)


class SegmentSender:
    """Sends to one target, `connections` requests at a time.

    Methods that send raise RemoteFailed if the target does not answer; what it has accepted until then is noted.
    """

    def __init__(
        self,
        target: Target,
        sent: SentDocuments,
        refusals: SentRefusals,
        hooks: FixUpHooks,
        *,
        connections: int = 4,
        are_denials_warnings: bool = False,
    ) -> None:
        self.figures = PushFigures()
        self._refused = RefusedOfRun()
        self._target = target
        self._sent = sent
        self._refusals = refusals
        self._hooks = hooks
        self._are_denials_warnings = are_denials_warnings
        self._pool = ThreadPoolExecutor(connections, thread_name_prefix="push")

    def close(self) -> None:
        """No further request begins."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._refused.close()

    def send_changes(self, changed: Iterable[OutboundChange], readable: ReadableDocuments) -> None:
        """Send what has changed, as far as it may be read; what may not be read any more is deleted."""
        passing = [each for each in changed if readable.passes(each)]
        if readable.is_limited:
            allowed = readable.of(each for each in passing if not each.is_delete)
            passing = [
                each
                if each.is_delete or each.document_uuid in allowed
                else delete(each.resource, each.document_uuid, each.last_body)
                for each in passing
            ]
        self.send(passing, readable)

    def send(self, segment: Sequence[OutboundChange], readable: ReadableDocuments) -> None:
        """Send documents, and then those that were refused before for the lack of one of them."""
        sent = self._send(segment, readable)
        self._record(sent.refused, readable)
        self._send_waiting(sent, readable)

    def send_part(self, segment: Sequence[OutboundChange], readable: ReadableDocuments) -> None:
        """Send documents before others, in load order. Where that leads to people only after their associations, what
        is denied now may be allowed after the others: it is not refused yet, but has to be sent again, as if asked."""
        sent = self._send(segment, readable)
        denied, refused = _split(sent.refused, lambda each: each.status == _DENIED and not each.outbound.is_delete)
        self._sent.ask(each.outbound.document_uuid for each in denied)
        self._record(refused, readable)
        self._send_waiting(sent, readable)

    def send_again(self, documents: Iterable[UUID], readable: ReadableDocuments) -> None:
        """Send documents as they are now, or delete them."""
        self.send(readable.current_documents(documents), readable)

    def _send_waiting(self, sent: _Segment, readable: ReadableDocuments) -> None:
        while waiting := self._waiting(sent):
            before = self._sent.refused
            sent = self._send(readable.current_documents(waiting), readable)
            self._record(sent.refused, readable)
            if self._sent.refused >= before:
                return

    def _waiting(self, sent: _Segment) -> list[UUID]:
        waiting = self._sent.waiting_for(sent.new) if sent.new else []
        return [*waiting, *(self._sent.refused_deletes() if sent.deleted else [])]

    def _send(self, segment: Sequence[OutboundChange], readable: ReadableDocuments) -> _Segment:
        upserts = [each for each in segment if not each.is_delete]
        sent = _Segment(self._sent.rows(each.document_uuid for each in segment), readable.is_limited)
        self._sent.begin(upserts)
        deletes = [each for each in segment if each.is_delete and sent.may_be_there(each)]
        try:
            levels = levels_of_upserts(upserts)
            self._deliver_levels(([sent.attempt(each) for each in level] for level in levels), sent)
            attempts = [*map(sent.attempt, deletes), *self._of_former(segment)]
            self._deliver_levels(levels_of_deletes(attempts, current_surface()), sent)
        finally:
            self._sent.forget(sent.deleted)
        return sent

    def _of_former(self, segment: Iterable[OutboundChange]) -> list[Attempt]:
        """Deletes of the documents there that others have replaced."""
        rows = self._sent.rows(each.document_uuid for each in segment)
        return [
            Attempt(delete(each.resource, each.document_uuid, each.last_body), former, is_of_former=True)
            for each in segment
            if each.document_uuid in rows
            for former in rows[each.document_uuid].former_ids
        ]

    def _deliver_levels(self, levels: Iterable[Sequence[Attempt]], sent: _Segment) -> None:
        """Deliver level after level, and then what was refused as long as that helps."""
        number = 0
        refused: list[Outcome] = []
        for level in levels:
            number += len(level)
            refused += self._deliver(level, sent)
        while 0 < len(refused) < number:
            number = len(refused)
            worth, unchanged = _split(refused, _may_pass_behind(refused))
            refused = [*unchanged, *self._deliver([each.attempt for each in worth], sent)]
        sent.refused += [left for each in refused for left in self._fixed_up(each, sent)]

    def _deliver(self, attempts: Sequence[Attempt], sent: _Segment) -> list[Outcome]:
        """The refusals. What was accepted is noted, also if an exception ends this."""
        others = self._of_others([each for each in attempts if each.outbound.is_delete])
        obsolete, left = _split(attempts, lambda each: each.outbound.is_delete and sent.is_obsolete(each, others))
        left = self._without_ids_of_others(left)
        outcomes = [Outcome(each, _GONE) for each in obsolete]
        try:
            self._run(self._target.works(left), outcomes)
        finally:
            self._note([each for each in outcomes if each.is_accepted], sent)
        return [each for each in outcomes if not each.is_accepted]

    def _of_others(self, deletes: Sequence[Attempt]) -> set[str]:
        """Ids there that are those of other documents by now."""
        ids = [each.remote_id for each in deletes if each.remote_id]
        return self._sent.of_others(ids, [each.outbound.document_uuid for each in deletes])

    def _without_ids_of_others(self, attempts: list[Attempt]) -> list[Attempt]:
        """A key is not changed by an id there that another document has, too: the document is found by its key."""
        named = [
            (each.outbound.document_uuid, each.remote_id)
            for each in attempts
            if each.remote_id and each.outbound.former_keys and not each.outbound.is_delete
        ]
        others = self._sent.with_several(named)
        return [
            Attempt(replace(each.outbound, former_keys=()))
            if each.remote_id in others and not each.outbound.is_delete
            else each
            for each in attempts
        ]

    def _run(self, works: Iterable[Callable[[], list[Outcome]]], outcomes: list[Outcome]) -> None:
        """Run the works. At the first exception nothing more begins; what has begun ends, and is among the outcomes."""
        futures: list[Future[list[Outcome]]] = [self._pool.submit(work) for work in works]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            begun = [each for each in futures if not each.cancel()]
            wait(begun)
            for each in begun:
                outcomes += [] if each.exception() else each.result()
        for each in begun:
            each.result()

    def _note(self, accepted: Sequence[Outcome], sent: _Segment) -> None:
        """Entries of the ledger are closed before the rows say that nothing is refused."""
        own = [each for each in accepted if not each.attempt.is_of_former]
        self._refusals.resolve(each.outbound for each in accepted if sent.is_resolved_by(each))
        self._sent.forget_former(
            [
                (each.outbound.document_uuid, each.attempt.remote_id or "")
                for each in accepted
                if each.attempt.is_of_former
            ]
        )
        written = [each for each in own if not each.outbound.is_delete]
        self._sent.accept([(each.outbound.document_uuid, each.remote_id, each.former_id) for each in written])
        deleted = {each.outbound.document_uuid for each in own if each.outbound.is_delete}
        sent.deleted |= deleted
        sent.new |= {
            document
            for each in written
            if (row := sent.rows.get(document := each.outbound.document_uuid)) is None
            or row.remote_id is None
            or row.is_refused
        }
        self.figures.written += len(written)
        self.figures.deleted += len(deleted)
        if self.figures.refused or self.figures.denied:
            self._refused.accept(each.outbound.document_uuid for each in accepted)
            self._count_refused()

    def _fixed_up(self, refused: Outcome, sent: _Segment) -> list[Outcome]:
        """Return what is refused after a fix-up hook, if there is one, has sent something first."""
        outbound = refused.outbound
        if outbound.body is None:
            return [refused]
        path = outbound.resource.url_path.strip("/")
        first = self._hooks.first(RefusedDocument(path, outbound.body, problem_of(refused)))
        for each in first:
            if resource := current_surface().resource_at(each.resource):
                self._target.post(resource, each.body)
        return self._deliver([refused.attempt], sent) if first else [refused]

    def _record(self, refused: Sequence[Outcome], readable: ReadableDocuments) -> None:
        if not refused:
            return
        missing = MissingDependencies(self._sent, readable.resources, refused)
        found = [(each, missing.of(each)) for each in refused]
        self._refusals.record((each, missing) for each, missing in found)
        self._sent.begin(each.outbound for each in refused)
        self._sent.refuse(
            (each.outbound.document_uuid, each.remote_id, [target.referential_id for target in missing])
            for each, missing in found
        )
        for each in refused[:_MOST_LOGGED]:
            _log.info(
                "refused there: %s %s of document %s, status %s, correlation id there %s",
                *("delete" if each.outbound.is_delete else "upsert", each.outbound.resource.url_path),
                *(each.outbound.document_uuid, each.status, printable(each.correlation_id or "-")[:_LONGEST_LOGGED]),
            )
        self._refused.refuse(
            (each.outbound.document_uuid, self._are_denials_warnings and each.status == _DENIED) for each in refused
        )
        self._count_refused()

    def _count_refused(self) -> None:
        self.figures.refused, self.figures.denied = self._refused.numbers()


def _may_pass_behind(refused: Iterable[Outcome]) -> Callable[[Outcome], bool]:
    """Return whether another attempt may be accepted when others of them have been: not if only its own body is at
    fault."""
    identities = frozenset[UUID]().union(*(each.outbound.identities for each in refused))
    return lambda each: each.status != _INVALID or bool(each.outbound.targets & identities)


def _split(all_: Iterable[_Each], is_first: Callable[[_Each], bool]) -> tuple[list[_Each], list[_Each]]:
    """Return the items of which it is true, and the others."""
    first: list[_Each] = []
    others: list[_Each] = []
    for each in all_:
        (first if is_first(each) else others).append(each)
    return first, others
