"""Pulls windows of change versions, one after the other: key changes, documents, deletes, and at last the position.

A window that is interrupted is pulled again, which changes nothing of what it has done. Without change queries there is
one window of everything, and what it does not have is deleted.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Self

from django.db import DatabaseError, InterfaceError, connections
from orjson import JSONEncodeError

from edfi_api.common.conf import api_settings
from edfi_api.core.documents import json_text
from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.security.authenticated_client import client_of_row
from edfi_api.core.security.exceptions import AUTHORIZATION_REFUSALS
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.stored import Outcome, referential_ids
from edfi_api.features.exchange.models import Connection
from edfi_api.features.exchange.pull.client_writer import ClientDryRun, ClientRights, ClientWriter
from edfi_api.features.exchange.pull.corrections import Before, Corrections, Instead, RefusedHere
from edfi_api.features.exchange.pull.key_changes import KeyChangeMemory, KeyChanges
from edfi_api.features.exchange.pull.outcomes import (
    DueDelete,
    Outcomes,
    WindowMemory,
    begin_window,
    due_rows,
    position_of,
    set_position,
    unpin,
)
from edfi_api.features.exchange.pull.pulled_changes import PulledChanges
from edfi_api.features.exchange.pull.reading import EVERYTHING, Page, ReadResource, ReadWindow, RemoteSource
from edfi_api.features.exchange.pull.tracked_keys import TrackedKeys
from edfi_api.features.exchange.remote_api import RemoteFailed, plain_id
from edfi_api.features.exchange.resource_selection import DescriptorMapping, SelectionMode, selected, targets_of
from edfi_api.features.loading.bulk import BulkWriter, Candidate, Written
from edfi_api.features.loading.bulk.candidates import Place
from edfi_api.features.loading.bulk.dry_run import AcceptedDocuments
from edfi_api.features.loading.bulk.free_order import FreeOrder
from edfi_api.features.loading.bulk.pipeline import bulk_writer_by
from edfi_api.features.loading.reports.report import RefusalLimit
from edfi_api.model.surface.naming import EXTENSIONS
from edfi_api.model.surface.resource import Resource, ResourceName, Surface
from edfi_api.web.problem_details.catalog import problem_of

_LOCK = "SELECT pg_try_advisory_lock(hashtext('exchange'), %s)"
_UNLOCK = "SELECT pg_advisory_unlock(hashtext('exchange'), %s)"
# Documents that the client owns, after a row, with their own referential ids.
_OWNED = """
SELECT d.id, d.document_uuid, array_agg(a.referential_id)
  FROM document d JOIN alias a ON a.document_id = d.id
 WHERE d.resource_type_id = %(type)s AND d.created_by = %(client)s AND d.id > %(after)s
 GROUP BY d.id, d.document_uuid ORDER BY d.id LIMIT %(most)s
"""
_COUNT_OWNED = "SELECT count(*) FROM document WHERE resource_type_id = %(type)s AND created_by = %(client)s"
_AT_ONCE = 1_000
DELETES_ALLOWED = 20.0


@dataclass(frozen=True, slots=True)
class PullOptions:
    """`deletes_allowed` is the percentage of the client's documents that may be deleted because the source no longer
    lists them; `overlap` is how many versions before the position are read again; `position` is where to go on, in
    place of the stored one."""

    is_full: bool = False
    is_dry_run: bool = False
    adopts: bool = False
    max_refused: RefusalLimit | None = None
    deletes_allowed: float = DELETES_ALLOWED
    overlap: int = 0
    position: int | None = None
    processes: int | None = None


class AlreadyPulling(Exception):
    """Another process works for the connection."""


class ClientUnusable(Exception):
    """The API client of the connection cannot be used; the message says why."""


class TooManyDeletes(Exception):
    """The source does not list more of the documents than may be deleted for that. The message says how many."""


class Pulled(NamedTuple):
    """A window that was pulled: `newest` is the version of the source up to which all is done, None without change
    queries; `outcomes` is None if there was nothing to do."""

    newest: int | None
    outcomes: Outcomes | None
    seconds: float = 0.0


@contextmanager
def exclusively(connection: Connection, using: str) -> Iterator[None]:
    """Let one process at a time work for a connection. Raises AlreadyPulling."""
    take_lock(connection, using)
    try:
        yield
    finally:
        with suppress(DatabaseError, InterfaceError), connections[using].cursor() as cursor:
            cursor.execute(_UNLOCK, [connection.pk])


def take_lock(connection: Connection, using: str) -> None:
    """Take the lock of the connection. It belongs to the session, so it is taken again after an outage of the database.
    Raises AlreadyPulling."""
    with connections[using].cursor() as cursor:
        cursor.execute(_LOCK, [connection.pk])
        if not cursor.fetchone()[0]:
            raise AlreadyPulling(f"another process works for the connection {connection}")


class Puller:
    """Pulls for one connection, into the database `using`."""

    def __init__(
        self, connection: Connection, source: RemoteSource, surface: Surface, using: str, options: PullOptions
    ) -> None:
        """Raises UnknownResources and NotAMapping."""
        self._connection = connection
        self._source = source
        self._surface = surface
        self._using = using
        self._options = options
        self._mapping: DescriptorMapping = connection.mapping
        self._validators = DocumentValidators(surface)
        self._corrections = Corrections(api_settings.CHANGE_HANDLERS)
        self._resources = self._chosen()
        self._position: int | None = None

    def take_lock_again(self) -> None:
        """Take the lock again after an outage of the database. Raises AlreadyPulling."""
        take_lock(self._connection, self._using)

    @property
    def position(self) -> int | None:
        return self._position

    def pull(self) -> Pulled:
        """The next window. Raises RemoteFailed, ClientUnusable, TooManyRefused and TooManyDeletes."""
        if self._options.position is not None and not self._options.is_dry_run:
            set_position(self._connection, self._using, self._options.position)
            self._options = replace(self._options, position=None)
        # Read each time: the last window may have ended though its commit was not answered.
        self._position = position_of(self._connection, self._using)
        newest = self._source.newest_version()
        began = time.monotonic()
        if newest is not None and newest < (self._position or 0) and not self._options.is_full:
            raise RemoteFailed(
                f"its newest change version {newest:,} is behind {self._position:,}, which is done: it is another"
                " database, or an older state; --full begins again"
            )
        if newest is not None and (self._position is None or newest > self._position):
            newest = self._begin(newest)
        if newest is None:
            return Pulled(None, self._pull_everything(None), time.monotonic() - began)
        if self._options.is_full or self._position is None:
            outcomes = self._pull_everything(newest)
        elif newest > self._position:
            outcomes = self._pull_window(self._position, newest)
        elif due_rows(self._connection, self._using):
            outcomes = self._pull_due(newest)
        else:
            return Pulled(newest, None)
        if not self._options.is_dry_run:
            self._position = newest
        self._options = replace(self._options, is_full=False)
        return Pulled(newest, outcomes, time.monotonic() - began)

    def _begin(self, newest: int) -> int:
        """Begin a window and return where it ends. Raises RemoteFailed if the source is behind one that was
        interrupted, unless it begins again.
        """
        if self._options.is_dry_run:
            return newest
        last = begin_window(self._connection, self._using, newest)
        if last > newest and self._options.is_full:
            unpin(self._connection, self._using)
            return newest
        if last > newest:
            raise RemoteFailed(f"its newest change version {newest:,} is behind {last:,}, which it had before")
        return last

    def _pull_window(self, after: int, last: int) -> Outcomes:
        """Key changes of the overlap are listed by themselves: together with new ones they would be others."""
        window = ReadWindow(max(after + 1 - self._options.overlap, 0), last)
        with self._open_window(last) as work:
            if self._options.overlap and after:
                work.change_keys_again(ReadWindow(window.first, after))
            work.change_keys(ReadWindow(after + 1, last))
            work.write(self._source.documents(work.windowed, window))
            work.read_due(last)
            work.delete(window)
            return work.outcomes

    def _pull_due(self, newest: int) -> Outcomes:
        """Pull what is to be read again when nothing is new: a window without versions would be refused."""
        with self._open_window(newest) as work:
            work.read_due(newest)
            work.delete(None)
            return work.outcomes

    def _pull_everything(self, newest: int | None) -> Outcomes:
        """All documents, in a window if there are windows, and the deletes of what is here and not among them."""
        window = EVERYTHING if newest is None else ReadWindow(None, newest)
        is_first = newest is not None and self._position is None and not self._options.is_full
        since = None
        if newest is not None and self._position is not None and newest > self._position:
            since = ReadWindow(self._position + 1, newest)
        with self._open_window(newest) as work:
            if since is not None:
                work.change_keys(since)
            work.write(self._source.documents(self._resources, window))
            if since is not None:
                work.delete(since)
            if not is_first:
                unread = self._source.not_readable
                work.delete_absent([each.here for each in self._resources if each.there.path not in unread])
            return work.outcomes

    @contextmanager
    def _open_window(self, version: int | None) -> Iterator[_Window]:
        """Open a window, after whose end the position moves to this version. The writer ends first: batches do not wait
        for the disk, and if a crash may have undone some, the session in which the window began is lost, too, which it
        raises.
        """
        client = client_of_row(self._connection.api_client_id)
        if client is None:
            raise ClientUnusable(f"the API client {self._connection.api_client} is inactive or has expired")
        if client.claim_set_id is None:
            raise ClientUnusable(f"the API client {self._connection.api_client} has no claim set")
        if client.profile_ids:
            raise ClientUnusable(f"the API client {self._connection.api_client} is bound by API profiles")
        options, surface, using = self._options, self._surface, self._using
        rights = ClientRights(client, surface, using, adopts=options.adopts)
        with WindowMemory() as memory, AcceptedDocuments() if options.is_dry_run else nullcontext() as dry_run:
            outcomes = Outcomes(
                self._connection, surface, self._validators, using, memory, options.max_refused, options.is_dry_run
            )
            writing = ClientDryRun(using, rights, dry_run) if dry_run else ClientWriter(using, rights)
            keys = TrackedKeys(surface, self._validators, self._mapping)
            tracked = PulledChanges(rights, keys, using, outcomes)
            with bulk_writer_by(writing, using, options.processes) as writer:
                work = _Window(
                    self._source,
                    self._resources,
                    self._mapping,
                    surface,
                    writer,
                    rights,
                    outcomes,
                    tracked,
                    options,
                    self._corrections,
                )
                with work:
                    yield work
            work.finish(version)

    def _chosen(self) -> list[ReadResource]:
        """Return the resources on both sides, in the order of the source."""
        targets = targets_of(self._surface)
        chosen = selected(SelectionMode(self._connection.selection), self._connection.resources, targets)
        found = [
            ReadResource(here, there)
            for path, there in self._source.capabilities.resources.items()
            if (here := self._surface.resource_at(path)) is not None and here.url_path.strip("/") in chosen
        ]
        return [each for each in found if self._connection.with_descriptors or not each.here.is_descriptor]


@dataclass(slots=True)
class _Window:
    """One window under way."""

    source: RemoteSource
    resources: Sequence[ReadResource]
    mapping: DescriptorMapping
    surface: Surface
    writer: BulkWriter
    rights: ClientRights
    outcomes: Outcomes
    tracked: PulledChanges
    options: PullOptions
    corrections: Corrections
    _ranks: dict[ResourceName, int] = field(default_factory=dict)
    _line: int = 0

    def __post_init__(self) -> None:
        self._ranks = {resource.name: rank for rank, resource in enumerate(self.surface.resources)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self.tracked.moved is not None:
            self.tracked.moved.memory.close()

    @property
    def windowed(self) -> list[ReadResource]:
        return [each for each in self.resources if each.there.has_windows]

    def change_keys(self, window: ReadWindow) -> None:
        """Take over the key changes, of whichever resources the source has some: it may have changed keys that clients
        may not change here."""
        if self.options.is_dry_run:
            return
        changes = self._noted_key_changes(window)
        if not changes.has_any:
            changes.memory.close()
            return
        self.tracked.moved = changes
        changes.pin(partial(self._deletes, window))
        changes.make()
        self.tracked.delete_instead(changes.due)

    def change_keys_again(self, window: ReadWindow) -> None:
        """Change the keys of an overlap again. They are listed by themselves: together with new ones they would be
        others.
        """
        if self.options.is_dry_run:
            return
        changes = self._noted_key_changes(window)
        changes.is_whole = False
        with changes.memory:
            changes.find(tuple)
            changes.make()
            self.tracked.delete_instead(changes.due)

    def _noted_key_changes(self, window: ReadWindow) -> KeyChanges:
        memory = KeyChangeMemory({each.here.url_path: each.here for each in self.resources})
        tracked = self.tracked
        changes = KeyChanges(self.rights, self.outcomes.validators, tracked.keys, tracked.using, self.outcomes, memory)
        with_keys = [each for each in self.windowed if not each.here.is_descriptor]
        for resource, page in self.source.key_changes(with_keys, window):
            changes.note(resource.here, page)
        return changes

    def _deletes(self, window: ReadWindow) -> Iterator[tuple[Resource, Page]]:
        """Referrers come before what they refer to."""
        for resource, page in self.source.deletes(list(reversed(self.windowed)), window):
            yield resource.here, page

    def write(self, pages: Iterable[tuple[ReadResource, Page]]) -> None:
        """Documents, in whatever order their references need; those of people that the client may write only after an
        association are tried again after all others."""
        with FreeOrder(self.writer, self.surface.resources) as free_order:
            free_order.expect_all()
            self._take(free_order.write(self._candidates(pages)), may_try_again=True)
            self._take(free_order.finish(), may_try_again=True)
        again = self.outcomes.memory.take_for_another_try()
        resources = self.surface.resources
        self._take(self.writer.write(Candidate(resources[rank], text, Place(rank, line)) for line, rank, text in again))
        self._write_corrected()

    def _write_corrected(self) -> None:
        """Write refused documents again as custom functions correct them, after what these put first."""
        for line, rank, text, problem in self.outcomes.memory.take_to_correct():
            resource = self.surface.resources[rank]
            refused = RefusedHere(resource.url_path.strip("/"), json_text.loads(text), json_text.loads(problem))
            found = self.corrections.of(refused)
            for each in found:
                if isinstance(each, Before) and (other := self.surface.resource_at(each.resource)):
                    self._line += 1
                    place = Place(self._ranks[other.name], self._line)
                    self._take_corrected(Candidate(other, json_text.dumps(each.body), place))
            bodies = [each.body for each in found if isinstance(each, Instead)]
            again = json_text.dumps(bodies[-1]) if bodies else text
            self._take_corrected(Candidate(resource, again, Place(rank, line)))

    def _take_corrected(self, candidate: Candidate[Place]) -> None:
        for written in self.writer.write([candidate]):
            self.outcomes.take(written)

    def read_due(self, last: int) -> None:
        """Read again some of what was refused before. If the source has changed after the window, it waits on."""
        if self.options.is_dry_run:
            return
        by_path = {each.there.path: each for each in self.resources}
        rows = due_rows(self.outcomes.connection, self.outcomes.using)
        self.outcomes.forget_gone(row for row in rows if row.resource not in by_path)
        found: list[tuple[ReadResource, Page]] = []
        for row in rows:
            resource = by_path.get(row.resource)
            if resource is None:
                continue
            if row.document_uuid is not None:
                self._delete_due(DueDelete(resource.here, row.remote_id, row.document_uuid))
            elif (document := self.source.document(resource, row.remote_id)) is not None:
                found.append((resource, [document]))
            else:
                self.outcomes.forget_gone([row])
        # A document that is ahead of the window may get another key before the next one, which would not list this one.
        if found and self.source.newest_version() == last:
            self.write(found)

    def delete(self, window: ReadWindow | None) -> None:
        """Take over the deletes of a window; what others refer to is tried again after them."""
        if self.options.is_dry_run:
            return
        for resource, page in self._deletes(window) if window else ():
            self.tracked.delete_listed(resource, page)
        self.tracked.delete_replaced()
        self.tracked.repeat()

    def delete_absent(self, resources: Sequence[Resource]) -> None:
        """Delete what the client owns and has not been read. Raises TooManyDeletes before anything is deleted."""
        owned = sum(self._count_owned(each) for each in resources)
        absent = [each for resource in reversed(resources) for each in self._absent(resource)]
        if absent and len(absent) > owned * self.options.deletes_allowed / 100:
            raise TooManyDeletes(f"the source does not have {len(absent):,} of {owned:,} documents")
        if self.options.is_dry_run:
            return
        for resource in reversed(resources):
            self.tracked.delete_all(each for each in absent if each.resource is resource)
        self.tracked.repeat()

    def finish(self, version: int | None) -> None:
        self.outcomes.check_limit()
        if not self.options.is_dry_run:
            self.outcomes.write_ledger()
            self.outcomes.finish(version)

    def _candidates(self, pages: Iterable[tuple[ReadResource, Page]]) -> Iterator[Candidate[Place]]:
        for resource, page in pages:
            here, rank = resource.here, self._ranks[resource.here.name]
            bodies = [each for each in page if not self._is_mapped(here, each)]
            first = self._line + 1
            self._line += len(bodies)
            self.outcomes.memory.read(
                (line, rank, plain_id(body.get("id")) or "") for line, body in enumerate(bodies, start=first)
            )
            for line, body in enumerate(bodies, start=first):
                yield Candidate(here, self._text(resource, body), Place(rank, line))

    def _is_mapped(self, resource: Resource, body: dict[str, Any]) -> bool:
        """Return whether it is a descriptor that is another one here."""
        return resource.is_descriptor and self.mapping.has_there(f"{body.get('namespace')}#{body.get('codeValue')}")

    def _text(self, resource: ReadResource, body: dict[str, Any]) -> bytes:
        own = {
            name: value
            for name, value in body.items()
            if name != "id" and (name[:1] != "_" or name.lower() == EXTENSIONS)
        }
        try:
            _remove_links(own)
            self.mapping.replace_theirs(own)
            return json_text.dumps(own)
        except (RecursionError, JSONEncodeError):
            raise RemoteFailed(f"a document of {resource.there.path} is nested too deeply") from None

    def _take(self, results: Iterable[Written[Place]], *, may_try_again: bool = False) -> None:
        for written in results:
            if may_try_again and isinstance(written.result, AUTHORIZATION_REFUSALS):
                candidate = written.candidate
                self.outcomes.memory.keep_for_another_try(
                    candidate.origin.line, candidate.origin.source, candidate.text
                )
            elif not self._is_to_be_corrected(written):
                self.outcomes.take(written)

    def _is_to_be_corrected(self, written: Written[Place]) -> bool:
        """Return whether the document was refused, and kept for a function of the host that may know what to do."""
        candidate = written.candidate
        if isinstance(written.result, Outcome) or not self.corrections.has(candidate.resource.url_path.strip("/")):
            return False
        problem = problem_of(written.result)
        if problem is None:
            return False
        line, rank, text = candidate.origin.line, candidate.origin.source, candidate.text
        self.outcomes.memory.keep_to_mend(line, rank, text, json_text.dumps(problem.body("")))
        return True

    def _delete_due(self, due: DueDelete) -> None:
        """A document whose key the source has again is not deleted."""
        keys = referential_ids([due.document_uuid], self.outcomes.using).get(due.document_uuid, set())
        if keys and not any(map(self.outcomes.has_brought, keys)):
            self.tracked.delete_all([due])

    def _count_owned(self, resource: Resource) -> int:
        values = {"type": self._number(resource), "client": self.rights.client.row_id}
        with connections[self.outcomes.using].cursor() as cursor:
            cursor.execute(_COUNT_OWNED, values)
            return int(cursor.fetchone()[0])

    def _absent(self, resource: Resource) -> Iterator[DueDelete]:
        after = 0
        while True:
            values = {
                "type": self._number(resource),
                "client": self.rights.client.row_id,
                "after": after,
                "most": _AT_ONCE,
            }
            with connections[self.outcomes.using].cursor() as cursor:
                cursor.execute(_OWNED, values)
                rows = cursor.fetchall()
            if not rows:
                return
            for _, document_uuid, aliases in rows:
                if not any(self.outcomes.has_brought(alias) for alias in aliases):
                    yield DueDelete(resource, str(document_uuid), document_uuid)
            after = rows[-1][0]

    def _number(self, resource: Resource) -> int:
        return resource_types.numbers(self.outcomes.using)[resource.name]


def _remove_links(value: Any) -> None:
    """Remove the links of reference objects at any depth."""
    items = value.values() if isinstance(value, dict) else value
    for each in items:
        if isinstance(each, dict):
            each.pop("link", None)
            _remove_links(each)
        elif isinstance(each, list):
            _remove_links(each)
