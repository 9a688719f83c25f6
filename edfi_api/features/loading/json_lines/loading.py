"""JSON Lines into the database, one resource after the other in load order, as any client would write them.

A file of one resource is read when the turn of that resource comes; lines that carry their resource are sorted on disk
first. Nothing that is wrong with one line or one file stops the others. Memory is bounded by the batches under way and
by the caches of what is kept on disk.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import NamedTuple

from django.db import DEFAULT_DB_ALIAS

from edfi_api.core.storage.stored import Outcome
from edfi_api.core.storage.temporary_database import TemporaryDatabase
from edfi_api.features.loading.bulk import Candidate, Written, bulk_writer
from edfi_api.features.loading.bulk.candidates import Place, PreservedFields
from edfi_api.features.loading.bulk.dry_run import AcceptedDocuments
from edfi_api.features.loading.bulk.free_order import FreeOrder
from edfi_api.features.loading.files import LoadProgress, show_progress
from edfi_api.features.loading.json_lines.reading import SourceReader
from edfi_api.features.loading.json_lines.sources import Source
from edfi_api.features.loading.mapping import Translator
from edfi_api.features.loading.renames import NO_RENAMES, Renames
from edfi_api.features.loading.reports.causes import Causes
from edfi_api.features.loading.reports.results import LoadResult, RefusalHandler, RefusalReporter
from edfi_api.model.surface.resource import Surface

_SCHEMA = """
CREATE TABLE line (rank INTEGER, source INTEGER, number INTEGER, text BLOB,
                   PRIMARY KEY (rank, source, number)) WITHOUT ROWID;
"""


class Line(NamedTuple):
    """The body of a document, and where it is: its number in the source."""

    number: int
    text: bytes


class LineQueue(TemporaryDatabase):
    """Lines that carry their resource, on disk until its turn comes: by the rank of the resource in load order, then by
    source and number."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)

    def add(self, rank: int, source: int, line: Line) -> None:
        self._database.execute("INSERT INTO line VALUES (?, ?, ?, ?)", (rank, source, *line))

    def lines(self, rank: int, source: int) -> Iterator[Line]:
        query = "SELECT number, text FROM line WHERE rank = ? AND source = ? ORDER BY number"
        return (Line(*row) for row in self._database.execute(query, (rank, source)))


def load_documents(
    surface: Surface,
    sources: Sequence[Source],
    on_refusal: RefusalHandler,
    longest_line: int,
    *,
    using: str = DEFAULT_DB_ALIAS,
    processes: int | None = None,
    renames: Renames = NO_RENAMES,
    mapping: Translator | None = None,
    is_dry_run: bool = False,
    preserved: PreservedFields = PreservedFields.NOTHING,
    skips_rules: bool = False,
) -> LoadResult:
    """Load the documents of these sources; with a mapping they are of its first standard. `on_refusal` is called with
    each refusal; an exception from it ends the load. Lines of more than `longest_line` bytes are refused. A dry run
    writes nothing. `preserved` says what bodies bring with them. With `skips_rules` custom rules are not run. On a
    terminal, progress is shown."""
    result = LoadResult()
    with (
        LineQueue() as by_resource,
        Causes() as causes,
        AcceptedDocuments() if is_dry_run else nullcontext() as dry_run,
        bulk_writer(
            using, processes=processes, dry_run=dry_run, preserved=preserved, skips_rules=skips_rules
        ) as writer,
        FreeOrder(writer, surface.resources, holds_changes=True) as free_order,
        show_progress(sum(source.size for source in sources)) as progress,
    ):
        reporter = RefusalReporter(result, on_refusal, causes)
        of_files = surface if mapping is None else mapping.before
        reader = SourceReader(of_files, sources, longest_line, reporter, renames, mapping, progress.read)
        if mapping is not None:
            free_order.expect_all()
        _Loading(reader, by_resource, free_order, progress).load()
    return result


class _Loading:
    """One load. Resources are known by their rank in load order, sources by their number."""

    def __init__(
        self, reader: SourceReader, by_resource: LineQueue, free_order: FreeOrder, progress: LoadProgress
    ) -> None:
        self._reader = reader
        self._by_resource = by_resource
        self._free_order = free_order
        self._progress = progress
        self._resources = reader.surface.resources
        self._ranks = {resource.name: rank for rank, resource in enumerate(self._resources)}
        # The sources in which there are lines of a rank; keys of a dictionary keep their order.
        self._places: dict[int, dict[int, None]] = defaultdict(dict)
        # How many bytes of the progress a line of a source stands for that has been read before.
        self._shares: dict[int, float] = {}

    def load(self) -> None:
        self._find_places()
        for rank, numbers in sorted(self._places.items()):
            self._progress.describe(self._resources[rank].endpoint)
            self._take(self._free_order.write(self._candidates(rank, numbers)))
        self._take(self._free_order.finish())

    def _find_places(self) -> None:
        for number, source in enumerate(self._reader.sources):
            if source.resource is None:
                self._queue(number)
            else:
                self._places[self._ranks[source.resource.name]][number] = None

    def _queue(self, number: int) -> None:
        """Sort the lines of a source that carry their resource."""
        self._progress.describe("reading")
        count = size = 0
        for line, text, resource in self._reader.with_resources(number):
            rank = self._ranks[resource.name]
            self._places[rank][number] = None
            self._by_resource.add(rank, number, Line(line, text))
            count, size = count + 1, size + len(text)
        if count:
            still_to_write = self._reader.sources[number].size or size
            self._progress.add_to_total(still_to_write)
            self._shares[number] = still_to_write / count

    def _candidates(self, rank: int, numbers: Iterable[int]) -> Iterator[Candidate[Place]]:
        resource = self._resources[rank]
        for number in numbers:
            for line, text in self._lines(rank, number):
                yield from self._reader.candidates(text, resource, Place(number, line))

    def _lines(self, rank: int, number: int) -> Iterable[tuple[int, bytes]]:
        if self._reader.sources[number].resource is None:
            return self._by_resource.lines(rank, number)
        return self._reader.texts(number)

    def _take(self, results: Iterable[Written[Place]]) -> None:
        reporter = self._reader.reporter
        for written in results:
            if isinstance(written.result, Outcome):
                reporter.report_accepted_document(written, written.result, self._reader.sources)
            else:
                source, line = written.candidate.origin
                reporter.report_refused_document(written, written.result, str(self._reader.sources[source]), line)
            self._progress.count_written(self._shares.get(written.candidate.origin.source, 0))
