"""JSON Lines into the database, one resource after the other in load order, as any client would write them.

A file of one resource is read when the turn of that resource comes; lines that carry their resource are sorted on disk
first. Nothing that is wrong with one line or one file stops the others. Memory is bounded by the batches under way,
the spool's cache and the ids of the documents that wait for a further round.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from django.db import DEFAULT_DB_ALIAS
from tqdm import tqdm

from edfi_api.loading.bulk import BulkWriter, Candidate, Written, bulk_writer
from edfi_api.loading.bulk.deferred_references import DeferredReferences
from edfi_api.loading.interchange.results import LoadResult, RefusalHandler, RefusalReporter, refusal_reason
from edfi_api.loading.json_lines.reading import SourceReader
from edfi_api.loading.json_lines.sources import Source
from edfi_api.loading.json_lines.spool import Line, Spool
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.storage.stored import Outcome

# Documents that wait for each other in a circle are few, if there are any.
_MOST_AT_ONCE = 10_000
# The lines of one rank in one source.
LinesAt = Callable[[int, int], Iterable[Line]]


def load_documents(
    surface: Surface,
    sources: Sequence[Source],
    on_refusal: RefusalHandler,
    longest_line: int,
    *,
    using: str = DEFAULT_DB_ALIAS,
    processes: int | None = None,
) -> LoadResult:
    """Load the documents of these sources. `on_refusal` is called with each refusal; an exception from it ends the
    load. Lines of more than `longest_line` bytes are refused. On a terminal, progress is shown."""
    result = LoadResult()
    reader = SourceReader(surface, sources, longest_line, RefusalReporter(result, on_refusal))
    with Spool() as by_resource, bulk_writer(using, processes=processes) as writer:
        _Loading(reader, by_resource, writer, result).load()
    return result


class _Loading:
    """One load. Resources are known by their rank in load order, sources by their number."""

    def __init__(self, reader: SourceReader, by_resource: Spool, writer: BulkWriter, result: LoadResult) -> None:
        self._reader = reader
        self._by_resource = by_resource
        self._writer = writer
        self._result = result
        self._resources = reader.surface.resources
        self._ranks = {resource.name: rank for rank, resource in enumerate(self._resources)}
        # In which sources there are lines of a rank; keys of a dictionary keep their order.
        self._places: dict[int, dict[int, None]] = defaultdict(dict)

    def load(self) -> None:
        """In rounds, as long as each leaves fewer waiting than the one before."""
        self._find_places()
        waiting = self._round(self._lines_read)
        is_progress = True
        while waiting.size and is_progress:
            before, waiting = waiting, self._round(waiting.lines)
            is_progress = waiting.size < before.size
            before.close()
        self._write_circles(waiting)
        waiting.close()

    def _write_circles(self, waiting: Spool) -> None:
        """What waits in vain is refused, but for documents that wait for each other: they are written at once."""
        lines = list(waiting.lines_with_reasons()) if waiting.size <= _MOST_AT_ONCE else []
        candidates = [Candidate(self._resources[line.rank], line.text, line) for line, _ in lines]
        for written in self._writer.write_together(candidates):
            if isinstance(written.result, Outcome):
                self._result.count(written.candidate.resource.name, written.result)
                waiting.remove(written.candidate.origin)
        for line, reason in waiting.lines_with_reasons():
            self._reader.refuse(line.source, line.number, self._resources[line.rank], reason)

    def _find_places(self) -> None:
        for number, source in enumerate(self._reader.sources):
            if source.resource is not None:
                self._places[self._ranks[source.resource.name]][number] = None
                continue
            for line, text, resource in self._reader.with_resources(number):
                rank = self._ranks[resource.name]
                self._places[rank][number] = None
                self._by_resource.add(Line(rank, number, line, text))

    def _lines_read(self, rank: int, number: int) -> Iterable[Line]:
        if self._reader.sources[number].resource is None:
            return self._by_resource.lines(rank, number)
        return (Line(rank, number, line, text) for line, text in self._reader.texts(number))

    def _round(self, lines_at: LinesAt) -> Spool:
        """Write all lines; those whose targets may still come are left."""
        turn = _Round(self._reader, self._writer, self._result, DeferredReferences(self._resources))
        with tqdm(unit=" documents", disable=None) as progress:
            for rank, numbers in sorted(self._places.items()):
                progress.set_description_str(self._resources[rank].endpoint)
                queue = (line for number in numbers for line in lines_at(rank, number))
                for _ in turn.write(queue, self._resources[rank]):
                    progress.update()
        return turn.waiting


@dataclass
class _Round:
    """Lines → database. `_waits` has the waiting lines of each document that waits."""

    reader: SourceReader
    writer: BulkWriter
    result: LoadResult
    deferred_references: DeferredReferences
    waiting: Spool = field(default_factory=Spool)
    _waits: dict[bytes, list[Line]] = field(default_factory=lambda: defaultdict(list))

    def write(self, queue: Iterable[Line], resource: Resource) -> Iterator[Written[Line]]:
        for written in self.writer.write(Candidate(resource, line.text, line) for line in queue):
            self._take(written)
            yield written

    def _take(self, written: Written[Line]) -> None:
        line, resource = written.candidate.origin, written.candidate.resource
        if isinstance(written.result, Outcome):
            self.result.count(resource.name, written.result)
            if self._waits:
                self._refuse_older(written)
            return
        reason = refusal_reason(written, written.result)
        if written.referential_id and self.deferred_references.may_resolve_later(line.rank, written.result):
            self.deferred_references.defer(line.rank)
            self.waiting.add(line, reason)
            self._waits[written.referential_id].append(line)
        else:
            self.reader.refuse(line.source, line.number, resource, reason)

    def _refuse_older(self, written: Written[Line]) -> None:
        """What waits must not replace, later, what stood behind it and did not have to wait."""
        for line in self._waits.pop(written.referential_id or b"", ()):
            reason = self.waiting.remove(line)
            self.reader.refuse(line.source, line.number, written.candidate.resource, reason)
