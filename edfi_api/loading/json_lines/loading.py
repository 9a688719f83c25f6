"""JSON Lines into the database, one resource after the other in load order, as any client would write them.

A file of one resource is read when the turn of that resource comes; lines that carry their resource are sorted on disk
first. Nothing that is wrong with one line or one file stops the others. Memory is bounded by the batches under way and
by the caches of what is kept on disk.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from django.db import DEFAULT_DB_ALIAS
from tqdm import tqdm

from edfi_api.loading.bulk import Candidate, Written, bulk_writer
from edfi_api.loading.bulk.free_order import FreeOrder
from edfi_api.loading.bulk.waiting import Place
from edfi_api.loading.interchange.causes import Causes
from edfi_api.loading.interchange.results import LoadResult, RefusalHandler, RefusalReporter
from edfi_api.loading.json_lines.reading import SourceReader
from edfi_api.loading.json_lines.sources import Source
from edfi_api.loading.json_lines.spool import Line, Spool
from edfi_api.model.surface.resource import Surface
from edfi_api.storage.stored import Outcome


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
    with (
        Spool() as by_resource,
        Causes() as causes,
        bulk_writer(using, processes=processes) as writer,
        FreeOrder(writer, surface.resources) as free_order,
    ):
        reader = SourceReader(surface, sources, longest_line, RefusalReporter(result, on_refusal, causes))
        _Loading(reader, by_resource, free_order, result).load()
    return result


class _Loading:
    """One load. Resources are known by their rank in load order, sources by their number."""

    def __init__(self, reader: SourceReader, by_resource: Spool, free_order: FreeOrder, result: LoadResult) -> None:
        self._reader = reader
        self._by_resource = by_resource
        self._free_order = free_order
        self._result = result
        self._resources = reader.surface.resources
        self._ranks = {resource.name: rank for rank, resource in enumerate(self._resources)}
        # In which sources there are lines of a rank; keys of a dictionary keep their order.
        self._places: dict[int, dict[int, None]] = defaultdict(dict)

    def load(self) -> None:
        self._find_places()
        with tqdm(unit=" documents", disable=None) as progress:
            for rank, numbers in sorted(self._places.items()):
                progress.set_description_str(self._resources[rank].endpoint)
                self._take(self._free_order.write(self._candidates(rank, numbers)), progress)
            self._take(self._free_order.finish(), progress)

    def _find_places(self) -> None:
        for number, source in enumerate(self._reader.sources):
            if source.resource is not None:
                self._places[self._ranks[source.resource.name]][number] = None
                continue
            for line, text, resource in self._reader.with_resources(number):
                rank = self._ranks[resource.name]
                self._places[rank][number] = None
                self._by_resource.add(rank, number, Line(line, text))

    def _candidates(self, rank: int, numbers: Iterable[int]) -> Iterator[Candidate[Place]]:
        resource = self._resources[rank]
        for number in numbers:
            for line, text in self._lines(rank, number):
                yield Candidate(resource, text, Place(number, line))

    def _lines(self, rank: int, number: int) -> Iterable[tuple[int, bytes]]:
        if self._reader.sources[number].resource is None:
            return self._by_resource.lines(rank, number)
        return self._reader.texts(number)

    def _take(self, results: Iterable[Written[Place]], progress: tqdm) -> None:
        for written in results:
            if isinstance(written.result, Outcome):
                self._result.accepted(written, written.result)
            else:
                source, line = written.candidate.origin
                file = str(self._reader.sources[source])
                self._reader.reporter.refused_document(written, written.result, file, line)
            progress.update()
