"""One pass: the documents of a source through the bulk pipeline, then what the source has deleted.

Every row that is read has a result: accepted, unchanged, refused, or a conflict, for a document that was changed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from django.db import connections, transaction
from tqdm import tqdm

from edfi_api.common.one_process import exclusively
from edfi_api.core.documents import json_text
from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.storage import descriptor_uri_cache, store
from edfi_api.core.storage.exceptions import DocumentNotFound, KeyChangeContradicts, KeyChangeNotSupported
from edfi_api.core.storage.sets import REFUSALS
from edfi_api.core.storage.sets.staging import give_envelope, keep_versions
from edfi_api.core.storage.stored import Outcome
from edfi_api.core.storage.write_requests import WriteRequest
from edfi_api.features.loading.bulk import Candidate, Written, bulk_writer
from edfi_api.features.loading.bulk.candidates import Place, PreservedFields, pop_imported
from edfi_api.features.loading.bulk.dry_run import AcceptedDocuments
from edfi_api.features.loading.bulk.free_order import FreeOrder
from edfi_api.features.loading.files import SECONDS_BETWEEN
from edfi_api.features.loading.reports.causes import Causes
from edfi_api.features.loading.reports.results import (
    COLUMNS,
    LoadResult,
    RefusalHandler,
    RefusalReporter,
    Refused,
    reason_in_words,
)
from edfi_api.features.ods_import import passes
from edfi_api.features.ods_import.compatibility import (
    ServedModel,
    UnmappedRows,
    UnservedExtension,
    queries,
    unmapped_rows,
    unserved_extensions,
)
from edfi_api.features.ods_import.deletes import DeleteResult, Deletes, UnrecordedDeletes
from edfi_api.features.ods_import.document_queries import DocumentQuery
from edfi_api.features.ods_import.models import OdsPass, OwnershipToken
from edfi_api.features.ods_import.ods_source import AlreadyImporting, OdsSource, Portion, quoted
from edfi_api.features.ods_import.recorded_changes import RecordedChanges, TrackedChanges, TrackedResult
from edfi_api.features.sql_views.shape import Envelope
from edfi_api.model.surface.resource import Resource, ResourceName, Surface

CONFLICT = "conflict"
COLUMNS_OF_PASS = COLUMNS | {"conflicts": CONFLICT}
_SEVERAL_ROWS = "the ODS has several rows with this id, of which another is here"
_CHANGED_HERE = "changed here since it was imported, so it stays as it is; --overwrite replaces it"
_REFUSALS = (*REFUSALS, DocumentNotFound, KeyChangeContradicts, KeyChangeNotSupported)


def clients_by_token() -> Mapping[int, int]:
    """Map the tokens whose clients were imported to the row ids of the clients."""
    return dict(OwnershipToken.objects.values_list("token", "api_client"))


@dataclass(frozen=True, slots=True)
class PassOptions:
    """The options of a pass. `endpoints` are the resources to read, all if it is empty."""

    since_last: bool = False
    endpoints: frozenset[str] = frozenset()
    overwrite: bool = False
    is_dry_run: bool = False
    margin: int = passes.MARGIN
    processes: int | None = None


@dataclass(slots=True)
class PassResult:
    """The counts by resource, and what became of deletes and key changes."""

    load: LoadResult = field(default_factory=LoadResult)
    read: Counter[ResourceName] = field(default_factory=Counter)
    tracked: TrackedResult = field(default_factory=TrackedResult)
    deletes: DeleteResult = field(default_factory=DeleteResult)
    has_versions: bool = True
    of_unknown_owners: int = 0

    def check(self) -> None:
        """Check that nothing is dropped silently. Raises AssertionError."""
        for name, read in self.read.items():
            accounted = self.load.counts[name].total()
            if accounted != read:
                raise AssertionError(f"{name.resource}: {read} rows read, {accounted} accounted for")


class UnknownEndpoints(Exception):
    """Resources that the API does not have, by endpoint; the arguments say which."""


def import_documents(
    source: OdsSource, model: ServedModel, using: str, options: PassOptions, on_refusal: RefusalHandler
) -> PassResult:
    """Run a pass. Raises Incompatible, NoEarlierPass, AlreadyImporting, SourceUnusable, UnknownEndpoints."""
    owners = clients_by_token()
    all_queries = queries(model, source, owners)
    chosen = _chosen(all_queries, options.endpoints)
    result = PassResult(has_versions=any(query.has_versions for query in chosen))
    result.of_unknown_owners = _count_of_unknown_owners(source, chosen, list(owners))
    with exclusively("import_ods", using, AlreadyImporting):
        begun = _begin(source, using, options, result.has_versions)
        if begun.since is None:
            lost: list[UnmappedRows | UnservedExtension] = [
                *unserved_extensions(model, source),
                *unmapped_rows(model, source),
            ]
            result.load.unmapped.lost.update({loss.place: loss.rows for loss in lost})
        changed_here = "{}" if options.overwrite or not result.has_versions else passes.versions_given_here(using)
        context = _Context(source, model.surface, using, options, begun, changed_here)
        roots = sorted({str(query.root) for query in all_queries.values()})
        _Pass(context, roots, result, on_refusal).run(chosen)
        if not options.is_dry_run and not options.endpoints:
            passes.finish(begun, using)
    return result


def _begin(source: OdsSource, using: str, options: PassOptions, has_versions: bool) -> OdsPass:
    newest = source.newest_version() if has_versions else 0
    if not options.is_dry_run:
        return passes.begin(using, newest, since_last=options.since_last, margin=options.margin)
    return passes.planned(using, newest, since_last=options.since_last, margin=options.margin)


def _chosen(all_queries: dict[ResourceName, DocumentQuery], endpoints: frozenset[str]) -> list[DocumentQuery]:
    known = {query.resource.endpoint: query for query in all_queries.values()}
    if unknown := sorted(endpoints - known.keys()):
        raise UnknownEndpoints(*unknown)
    return [query for query in all_queries.values() if not endpoints or query.resource.endpoint in endpoints]


def _count_of_unknown_owners(source: OdsSource, chosen: Iterable[DocumentQuery], known: list[int]) -> int:
    """Return how many documents of the source have an ownership token whose client is not here."""
    column = Envelope.CREATED_BY_OWNERSHIP.value
    roots = {str(query.root) for query in chosen if column in source.tables[str(query.root)]}
    unknown = f"{column} IS NOT NULL AND {column} <> ALL (%(known)s)"
    counts = [f"(SELECT count(*) FROM {quoted(root)} WHERE {unknown})" for root in sorted(roots)]
    return int(source.rows(f"SELECT {' + '.join(['0', *counts])}", {"known": known})[0][0])


def _up_to_key_changes(chosen: Iterable[DocumentQuery]) -> Iterator[list[DocumentQuery]]:
    """The queries in order, in parts that end with a resource whose keys may change."""
    part = []
    for query in chosen:
        part.append(query)
        if query.resource.allows_identity_updates:
            yield part
            part = []
    yield part


@dataclass(frozen=True, slots=True)
class _Context:
    """The context of an import: from where to where; `changed_here` are the change versions of documents that stay as
    they are.
    """

    source: OdsSource
    surface: Surface
    using: str
    options: PassOptions
    begun: OdsPass
    changed_here: str


class _Pass:
    def __init__(self, context: _Context, roots: Sequence[str], result: PassResult, on_refusal: RefusalHandler) -> None:
        """`roots` are the tables of the source with the ids of all documents."""
        self._context = context
        self._roots = roots
        self._result = result
        self._on_refusal = on_refusal
        self._validators = DocumentValidators(context.surface)
        self._refused = 0
        self._refused_rows = 0
        self._answers: dict[str, bool] = {}
        self._large_tables = context.source.large_tables()
        # Documents whose key has changed in the source: written one by one, after the others of their resource.
        self._changed_keys: list[Written[Place]] = []

    def run(self, chosen: Sequence[DocumentQuery]) -> None:
        context, is_dry_run = self._context, self._context.options.is_dry_run
        recorded = RecordedChanges(context.source, chosen, self._validators)
        tracked, deletes = (
            TrackedChanges(recorded, context.using, context.changed_here, self._on_refusal),
            Deletes(context.using),
        )
        self._result.tracked, self._result.deletes = tracked.result, deletes.result
        if not is_dry_run:
            tracked.take(context.begun.since or 0, deletes)
        with (
            Causes() as causes,
            AcceptedDocuments() if is_dry_run else nullcontext() as dry_run,
            bulk_writer(
                context.using,
                processes=context.options.processes,
                dry_run=dry_run,
                preserved=PreservedFields.ENVELOPES,
                changed_here=context.changed_here,
                skips_rules=True,  # What the source has accepted is copied as it is.
            ) as writer,
            FreeOrder(writer, context.surface.resources) as free_order,
            tqdm(unit=" documents", mininterval=SECONDS_BETWEEN, disable=None) as progress,
        ):
            self._reporter = RefusalReporter(self._result.load, self._on_refusal, causes)
            self._progress = progress
            self._read_all(chosen, free_order)
            self._take(free_order.finish())
            self._write_changed_keys()
        if not is_dry_run:
            unrecorded = [query for query in chosen if not recorded.has(query)]
            UnrecordedDeletes(context.source, unrecorded, context.using, context.changed_here).take(deletes)
            deletes.carry_out()
        self._result.check()

    def _read_all(self, chosen: Sequence[DocumentQuery], free_order: FreeOrder) -> None:
        """Key changes are written before what refers to the new keys."""
        context, results = self._context, 0
        for queries_together in _up_to_key_changes(chosen):
            results += self._take(free_order.write(self._candidates(queries_together)))
            self._write_changed_keys()
            if results + self._refused_rows == self._result.read.total() and not context.options.is_dry_run:
                endpoints = [query.resource.endpoint for query in queries_together]
                passes.complete(context.begun, context.using, endpoints)

    def _candidates(self, chosen: Iterable[DocumentQuery]) -> Iterator[Candidate[Place]]:
        read = self._result.read
        for query, rows in self._context.source.read(list(self._portions(chosen))):
            name = query.resource.name
            self._progress.set_description_str(query.resource.endpoint, refresh=False)
            for text, fault in rows:
                read[name] += 1
                if fault is None:
                    yield Candidate(query.resource, text.encode(), Place(0, read[name]))
                else:
                    self._refuse_row(query.resource, text.encode(), fault)

    def _refuse_row(self, resource: Resource, text: bytes, reason: str) -> None:
        """A row that can be no document here, whatever its body is; the text has its id and key."""
        self._reporter.report_refused(Refused(self._place(resource, text), None, resource.name, reason))
        self._refused_rows += 1
        self._progress.update()

    def _portions(self, chosen: Iterable[DocumentQuery]) -> Iterator[Portion[DocumentQuery]]:
        """All documents of a large table are read in parts by all connections."""
        for rank, query in enumerate(chosen):
            since = self._since_of(query)
            if self._has_any(query.has_any(since)):
                is_large = since is None and str(query.root) in self._large_tables
                parts = 1 + len(self._context.source.others) if is_large else 1
                for number in range(parts):
                    yield Portion(rank, query, query.documents(since, (number, parts)))

    def _has_any(self, question: str) -> bool:
        """Asked once of a table that several resources share."""
        if question not in self._answers:
            self._answers[question] = bool(self._context.source.rows(question)[0][0])
        return self._answers[question]

    def _since_of(self, query: DocumentQuery) -> int | None:
        """Return the version to read from: if an interrupted pass has read the resource, that where this pass began."""
        begun = self._context.begun
        if query.resource.endpoint in begun.completed:
            return max(begun.newest_version - self._context.options.margin, 0)
        return begun.since

    def _take(self, results: Iterable[Written[Place]]) -> int:
        """Count the results, and return how many there were."""
        count = 0
        for written in results:
            count += 1
            self._progress.update()
            self._count(written)
            if not isinstance(written.result, Outcome):
                self._refused += 1
                self._progress.set_postfix_str(f"{self._refused:,} refused", refresh=False)
        return count

    def _count(self, written: Written[Place]) -> None:
        match written.result:
            case Outcome.STALE:
                self._report_conflict(written)
            case Outcome.OTHER_IDENTITY:
                self._changed_keys.append(written)
            case Outcome() as outcome:
                self._reporter.result.count_accepted(written, outcome)
            case refusal:
                self._reporter.report_refused_document(written, refusal, self._place_of(written), None)

    def _report_conflict(self, written: Written[Place]) -> None:
        name = written.candidate.resource.name
        self._result.load.count(name, CONFLICT)
        self._on_refusal(Refused(self._place_of(written), None, name, _CHANGED_HERE))

    def _place_of(self, written: Written[Any]) -> str:
        return self._place(written.candidate.resource, written.candidate.text)

    def _place(self, resource: Resource, text: bytes) -> str:
        """The id and the natural key of a document, for reports, also of one that is refused for its JSON."""
        body = json_text.loads(text)
        id_ = pop_imported(body, PreservedFields.ENVELOPES).document_uuid
        key = self._validators[resource.name].partial_identity(body).natural_key
        return f"{UUID(id_) if id_ else 'no id'} {key or ''}".rstrip()

    def _write_changed_keys(self) -> None:
        of_several_rows = self._ids_of_several_rows()
        for written in self._changed_keys:
            name, place = written.candidate.resource.name, self._place_of(written)
            if UUID(place.partition(" ")[0]) in of_several_rows:
                self._reporter.report_refused(Refused(place, None, name, _SEVERAL_ROWS))
                continue
            try:
                self._change_key(written.candidate)
            except _REFUSALS as refusal:
                self._reporter.report_refused(Refused(place, None, name, reason_in_words(refusal)))
            else:
                self._reporter.result.count_accepted(written, Outcome.UPDATED)
        self._changed_keys.clear()

    def _ids_of_several_rows(self) -> set[UUID]:
        """Return the ids of the documents with changed keys that the source has more than once: their keys have not
        changed.
        """
        if not self._changed_keys:
            return set()
        bodies = (json_text.loads(written.candidate.text) for written in self._changed_keys)
        return self._context.source.ids_of_several_rows(self._roots, [body["id"] for body in bodies])

    def _change_key(self, candidate: Candidate[Place]) -> None:
        """Give the document with this id its new key, and all that refer to it. Raises the refusals of an update."""
        body = json_text.parse_object(candidate.text)
        imported, using = pop_imported(body, PreservedFields.ENVELOPES), self._context.using
        stored_uris = partial(descriptor_uri_cache.stored_uris, using=using)
        validated = self._validators[candidate.resource.name].validate(body, stored_uris)
        document_uuid = UUID(imported.document_uuid)
        with transaction.atomic(using), connections[using].cursor() as cursor, keep_versions(cursor):
            store.update(WriteRequest(document=validated, using=using), document_uuid, self._validators)
            if imported.envelope is not None:
                give_envelope(document_uuid, imported.envelope, using)
