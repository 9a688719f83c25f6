"""Loading interchange files: read everything, then write it in load order, with the same rules as the API.

Errors in one document or one file do not stop the others. Memory is bounded by one document, the spool's cache, the
counts, and the documents that wait for the next round (see `_Writing`); it does not depend on the number of documents.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from django.db import DEFAULT_DB_ALIAS
from tqdm import tqdm

from edfi_api.loading.bulk import BulkWriter, Candidate, Written, bulk_writer, write_documents
from edfi_api.loading.bulk.deferred_references import DeferredReferences
from edfi_api.loading.interchange.document_reader import DocumentReader
from edfi_api.loading.interchange.entities import Entities
from edfi_api.loading.interchange.exceptions import UnknownElement, UnreadableDocument, UnreadableFile
from edfi_api.loading.interchange.resolution import Resolver
from edfi_api.loading.interchange.results import (
    LoadResult,
    RefusalHandler,
    RefusalReporter,
    Refused,
    no_such,
    refusal_reason,
)
from edfi_api.loading.interchange.spool import Spool, Waiting
from edfi_api.loading.interchange.xml_stream import XmlElement, documents
from edfi_api.model.surface.resource import ResourceName, Surface
from edfi_api.storage.stored import Outcome


def load_interchange(
    surface: Surface,
    files: Sequence[Path],
    on_refusal: RefusalHandler,
    using: str = DEFAULT_DB_ALIAS,
    *,
    kind: str = "resource",
) -> LoadResult:
    """Load the documents of these files whose resources the surface has.

    `on_refusal` is called with each refusal; an exception from it ends the load. Progress is shown on a terminal.
    `kind` is the word for the surface's resources in refusals.
    """
    result = LoadResult()
    reporter = RefusalReporter(result, on_refusal)
    entities = Entities(surface)
    with Spool() as spool:
        _Reading(entities, spool, files, reporter, kind).read()
        _Writing(entities, spool, files, reporter, using).write()
    return result


def load_candidates(candidates: Iterable[Candidate[str]], result: LoadResult, on_refusal: RefusalHandler) -> None:
    """Write documents given as bodies and count the outcomes; refusals show their origins as places."""
    reporter = RefusalReporter(result, on_refusal)
    for written in write_documents(candidates):
        name = written.candidate.resource.name
        if isinstance(written.result, Outcome):
            result.count(name, written.result)
        else:
            reason = refusal_reason(written, written.result)
            reporter.refused(Refused(written.candidate.origin, None, name, reason))


@dataclass
class _Reading:
    """The first half: files → spool."""

    entities: Entities
    spool: Spool
    files: Sequence[Path]
    reporter: RefusalReporter
    kind: str

    def __post_init__(self) -> None:
        self._reader = DocumentReader(self.entities)
        self._ranks = {resource.name: rank for rank, resource in enumerate(self.entities.surface.resources)}

    def read(self) -> None:
        for number, path in enumerate(self.files):
            try:
                self._read_file(number, path)
            except UnreadableFile as failure:
                self.reporter.unreadable(Refused(str(path), failure.line, None, failure.reason))
            except OSError as error:
                self.reporter.unreadable(Refused(str(path), None, None, error.strerror or str(error)))

    def _read_file(self, number: int, path: Path) -> None:
        with (
            path.open("rb") as file,
            tqdm.wrapattr(file, "read", total=path.stat().st_size, desc=path.name, leave=False, disable=None) as shown,
        ):
            for element in documents(shown):
                self._take(number, path, element)

    def _take(self, number: int, path: Path, element: XmlElement) -> None:
        try:
            read = self._reader.read(element)
        except UnknownElement as problem:
            reason = no_such(self.kind, problem.name, self.entities.surface)
            self.reporter.refused(Refused(str(path), problem.line, None, reason, is_of_no_resource=True))
            return
        except UnreadableDocument as problem:
            self.reporter.refused(Refused(str(path), problem.line, self._resource_name(element), problem.reason))
            return
        for id_, named in read.named.items():
            if not self.spool.name(number, id_, named):
                reason = f"the id {id_!r} is given to something else before"
                self.reporter.refused(Refused(str(path), element.line, self._resource_name(element), reason))
                return
        if read.document is not None:
            self.spool.add(self._ranks[read.document.name], number, element.line, read.document)

    def _resource_name(self, element: XmlElement) -> ResourceName | None:
        entity = self.entities.document_in(element.name)
        return entity.name if entity is not None else None


@dataclass
class _Writing:
    """The second half: spool → database, in rounds.

    A document waits for the next round if its missing target can still be written. Rounds repeat as long as the number
    of waiting documents decreases.
    """

    entities: Entities
    spool: Spool
    files: Sequence[Path]
    reporter: RefusalReporter
    using: str
    _waiting: dict[tuple[int, int], Refused] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._resources = self.entities.surface.resources
        self._resolver = Resolver(self.entities, self.spool, self.using)
        self._deferred_references = DeferredReferences(self._resources)

    def write(self) -> None:
        with bulk_writer(self.using) as writer:
            self._round(writer, tqdm(self.spool.in_order(), total=self.spool.size, unit="doc", disable=None))
            is_progress = True
            while self._waiting and is_progress:
                places = list(self._waiting)
                self._round(writer, self.spool.at(places))
                is_progress = len(self._waiting) < len(places)
        for refused in self._waiting.values():
            self.reporter.refused(refused)

    def _round(self, writer: BulkWriter, queue: Iterable[Waiting]) -> None:
        """Writes resource by resource, so that look-ups find the documents that precede them in load order."""
        self._waiting = {}
        self._deferred_references.begin_round()
        for _, of_resource in groupby(queue, key=attrgetter("rank")):
            for written in writer.write(self._candidates(of_resource)):
                self._take_result(written.candidate.origin, written)

    def _candidates(self, queue: Iterable[Waiting]) -> Iterator[Candidate[Waiting]]:
        """The documents whose references can be resolved; the others are refused."""
        for waiting in queue:
            resource = self._resources[waiting.rank]
            file = str(self.files[waiting.file])
            try:
                body = self._resolver.body(waiting.fragment, waiting.file)
            except UnreadableDocument as problem:
                self.reporter.refused(Refused(file, problem.line, resource.name, problem.reason))
            else:
                yield Candidate.of(resource, body, waiting)

    def _take_result(self, waiting: Waiting, written: Written[Waiting]) -> None:
        resource = written.candidate.resource
        if isinstance(written.result, Outcome):
            self.reporter.result.count(resource.name, written.result)
            return
        reason = refusal_reason(written, written.result)
        refused = Refused(str(self.files[waiting.file]), waiting.line, resource.name, reason)
        if self._deferred_references.may_resolve_later(waiting.rank, written.result):
            self._wait(waiting, refused)
        else:
            self.reporter.refused(refused)

    def _wait(self, waiting: Waiting, refused: Refused) -> None:
        self._waiting[waiting.rank, waiting.number] = refused
        self._deferred_references.defer(waiting.rank)
