"""Loading interchange files: read everything, then write it in load order, with the same rules as the API.

Errors in one document or one file do not stop the others. Memory is bounded by the batches under way, the caches of
what is kept on disk, and the counts; it does not depend on the number of documents.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS

from edfi_api.core.documents import json_text
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import Candidate, Written, bulk_writer, write_documents
from edfi_api.features.loading.bulk.candidates import Place
from edfi_api.features.loading.bulk.dry_run import AcceptedDocuments
from edfi_api.features.loading.bulk.free_order import FreeOrder
from edfi_api.features.loading.exceptions import (
    NeedsLookUp,
    NothingFound,
    UnknownElement,
    UnreadableDocument,
    UnreadableInterchange,
)
from edfi_api.features.loading.files import LoadProgress, files_at, open_counted, show_progress, size
from edfi_api.features.loading.interchange.disk_queue import InterchangeQueue, QueuedDocument
from edfi_api.features.loading.interchange.document_reader import DocumentReader, XmlElement, documents
from edfi_api.features.loading.interchange.entities import Entities
from edfi_api.features.loading.interchange.resolution import Resolver
from edfi_api.features.loading.mapping import Translator
from edfi_api.features.loading.renames import NO_RENAMES, Renames
from edfi_api.features.loading.reports.causes import Causes
from edfi_api.features.loading.reports.results import (
    LoadResult,
    RefusalHandler,
    RefusalReporter,
    Refused,
    no_such,
)
from edfi_api.model.surface.resource import ResourceName, Surface


def load_interchange(
    surface: Surface,
    files: Sequence[Path],
    on_refusal: RefusalHandler,
    using: str = DEFAULT_DB_ALIAS,
    *,
    kind: str = "resource",
    renames: Renames = NO_RENAMES,
    mapping: Translator | None = None,
    is_dry_run: bool = False,
    skips_rules: bool = False,
) -> LoadResult:
    """Load the documents of these files whose resources the surface has; with a mapping, its first one.

    `on_refusal` is called with each refusal; an exception from it ends the load. Progress is shown on a terminal.
    `kind` is the word for the surface's resources in refusals. A dry run writes nothing. With `skips_rules` the host's
    rules are not run.
    """
    result = LoadResult()
    entities = Entities(surface if mapping is None else mapping.before)
    total = sum(map(size, files))
    with (
        InterchangeQueue() as queue,
        Causes() as causes,
        show_progress(2 * total) as progress,
        AcceptedDocuments() if is_dry_run else nullcontext() as dry_run,
    ):
        reporter = RefusalReporter(result, on_refusal, causes)
        _Reading(entities, queue, files, reporter, progress, kind, renames).read()
        writing = _Writing(entities, queue, files, reporter, progress, using, surface, mapping, dry_run, skips_rules)
        writing.write(total)
    return result


def load_candidates(
    candidates: Iterable[Candidate[str]], result: LoadResult, on_refusal: RefusalHandler, using: str
) -> None:
    """Write documents given as bodies and count the outcomes; refusals show their origins as places."""
    with Causes() as causes:
        reporter = RefusalReporter(result, on_refusal, causes)
        for written in write_documents(candidates, using):
            if isinstance(written.result, Outcome):
                result.count_accepted(written, written.result)
            else:
                reporter.report_refused_document(written, written.result, written.candidate.origin, None)


@dataclass
class _Reading:
    """The first half: files → queue."""

    entities: Entities
    queue: InterchangeQueue
    files: Sequence[Path]
    reporter: RefusalReporter
    progress: LoadProgress
    kind: str
    renames: Renames

    def __post_init__(self) -> None:
        self._reader = DocumentReader(self.entities, self.renames)
        self._ranks = {resource.name: rank for rank, resource in enumerate(self.entities.surface.resources)}

    def read(self) -> None:
        for number, path in enumerate(self.files):
            try:
                self._read_file(number, path)
            except UnreadableInterchange as failure:
                self.reporter.report_unreadable(Refused(str(path), failure.line, None, failure.reason))
            except OSError as error:
                self.reporter.report_unreadable(Refused(str(path), None, None, error.strerror or str(error)))

    def _read_file(self, number: int, path: Path) -> None:
        self.progress.describe(path.name)
        with open_counted(path, self.progress.read) as file:
            for element in documents(file):
                self._take(number, path, element)

    def _take(self, number: int, path: Path, element: XmlElement) -> None:
        try:
            read = self._reader.read(element)
        except UnknownElement as problem:
            reason = no_such(self.kind, problem.name, self.entities.surface)
            self.reporter.report_refused(Refused(str(path), problem.line, None, reason, is_of_no_resource=True))
            return
        except UnreadableDocument as problem:
            self.reporter.report_refused(Refused(str(path), problem.line, self._resource_name(element), problem.reason))
            return
        for id_, named in read.named.items():
            if not self.queue.name(number, id_, named):
                reason = f"the id {id_!r} is given to something else before"
                self.reporter.report_refused(Refused(str(path), element.line, self._resource_name(element), reason))
                return
        if read.document is not None:
            self.queue.add(self._ranks[read.document.name], number, element.line, read.document)

    def _resource_name(self, element: XmlElement) -> ResourceName | None:
        entity = self._reader.entity(element)
        return entity.name if entity is not None else None


@dataclass
class _Writing:
    """The second half: queue → database, in free order.

    Look-ups are resolved when everything is written that can be without them, and all of them before any of their
    documents is written. So what they match does not depend on the order of the documents either.
    """

    entities: Entities
    queue: InterchangeQueue
    files: Sequence[Path]
    reporter: RefusalReporter
    progress: LoadProgress
    using: str
    surface: Surface
    mapping: Translator | None
    dry_run: AcceptedDocuments | None
    skips_rules: bool

    def __post_init__(self) -> None:
        self._resources = self.entities.surface.resources
        has_look_ups = self.mapping is None
        self._resolver = Resolver(self.entities, self.queue, self.using, self.dry_run, has_look_ups)
        self._share = 0.0

    def write(self, total: int) -> None:
        """Write all documents; `total` are the bytes of the progress that they stand for."""
        self._share = total / (self.queue.size or 1)
        with (
            bulk_writer(self.using, dry_run=self.dry_run, skips_rules=self.skips_rules) as writer,
            FreeOrder(writer, self.surface.resources, holds_changes=True) as free_order,
        ):
            if self.mapping is not None:
                free_order.expect_all()
            self._take(free_order.write(self._without_look_ups(free_order)))
            self._take(free_order.settle())
            while self._look_up():
                self._take(free_order.write(self._looked_up()))
                self._take(free_order.settle())
            self._take(free_order.finish())
        for waiting, line, reason in self.queue.with_open_look_ups():
            self._refuse(waiting, line, reason)

    def _without_look_ups(self, free_order: FreeOrder) -> Iterator[Candidate[Place]]:
        """Yield the candidates whose references can be resolved; the others are refused, or wait until look-ups are
        resolved.
        """
        for waiting in self.queue.in_order():
            try:
                body = self._resolver.body_without_look_ups(waiting.fragment, waiting.file)
            except NeedsLookUp:
                free_order.expect(self._resources[waiting.rank])
                self.queue.look_up_later(waiting)
            except UnreadableDocument as problem:
                self._refuse(waiting, problem.line, problem.reason)
            else:
                yield from self._candidates(waiting, body)

    def _look_up(self) -> bool:
        """Resolve the look-ups that match one document now; whether there is any."""
        is_any = False
        for waiting, _, _ in self.queue.with_open_look_ups():
            try:
                body = self._resolver.body(waiting.fragment, waiting.file)
            except UnreadableDocument as problem:
                self.queue.keep_unresolved(waiting, problem.line, problem.reason)
            else:
                self.queue.keep_resolved(waiting, json_text.dumps(body))
                is_any = True
        return is_any

    def _looked_up(self) -> Iterator[Candidate[Place]]:
        return (self._candidate(waiting, text) for waiting, text in self.queue.take_looked_up())

    def _candidates(self, waiting: QueuedDocument, body: dict[str, Any]) -> Iterator[Candidate[Place]]:
        """The documents that one gives: one, or those of the mapping."""
        if self.mapping is None:
            yield self._candidate(waiting, json_text.dumps(body))
            return
        name, unmapped = self._resources[waiting.rank].name, self.reporter.result.unmapped
        for translated in self.mapping.translate(name, body, unmapped):
            resource = self.surface.by_name[translated.resource]
            yield Candidate.of(resource, translated.body, Place(waiting.file, waiting.line))

    def _candidate(self, waiting: QueuedDocument, text: bytes) -> Candidate[Place]:
        return Candidate(self._resources[waiting.rank], text, Place(waiting.file, waiting.line))

    def _take(self, results: Iterable[Written[Place]]) -> None:
        for written in results:
            if isinstance(written.result, Outcome):
                self.reporter.report_accepted_document(written, written.result, self.files)
            else:
                file, line = written.candidate.origin
                self.reporter.report_refused_document(written, written.result, str(self.files[file]), line)
            self.progress.describe(written.candidate.resource.endpoint)
            self.progress.count_written(self._share)

    def _refuse(self, waiting: QueuedDocument, line: int, reason: str) -> None:
        name = self._resources[waiting.rank].name
        self.reporter.report_refused(Refused(str(self.files[waiting.file]), line, name, reason))


def interchange_files(paths: Iterable[Path]) -> list[Path]:
    """The named files, and the `.xml` files in and below named folders, sorted by name; each file once.

    Raises NoSuchPath, or NothingFound if there is no file at all.
    """
    paths = list(paths)
    found = dict.fromkeys(file for path in paths for file in files_at(path, _is_xml))
    if not found:
        raise NothingFound(paths)
    return list(found)


def _is_xml(name: str) -> bool:
    return name.lower().endswith(".xml")
