"""Loads of uploaded tables, one at a time, in whatever process takes them: their progress and results are rows.

A load that a process has begun belongs to it as long as it reports. When it has ended in the meantime, the load is said
to have stopped, and can be started again: an upsert that is repeated changes nothing.

A preview tries the first rows of a table as the client would write them, and shows each problem at its cell.
"""

import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import cast

import orjson
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.core.data_stores.access import DEFAULT_LEASE, Lease, lease
from edfi_api.core.data_stores.exceptions import DataStoreNotFound
from edfi_api.core.data_stores.routing_cache import routing_cache
from edfi_api.core.security.authenticated_client import client_of_row
from edfi_api.core.served import current_surface
from edfi_api.features.tables.exceptions import ClientGone, InvalidTemplate, UnreadableTable
from edfi_api.features.tables.loading import OUTCOMES, REFUSED, Loader, RowResult
from edfi_api.features.tables.mapping import MappedDocument, Problem, TableMapping
from edfi_api.features.tables.members import Members
from edfi_api.features.tables.models import LoadState, TableLoad, TableRow
from edfi_api.features.tables.reading import Table, column_letter, open_table
from edfi_api.features.tables.suggesting import DescriptorWords
from edfi_api.features.tables.template import Template, template_of
from edfi_api.model.surface.resource import Resource

ROWS_OF_PREVIEW = 10
# A process that loads reports more often.
SILENT = timedelta(seconds=90)
_CONTENT_IS_KEPT = timedelta(days=1)
_log = logging.getLogger(__name__)


class TakenOver(Exception):
    """The load was started again, or deleted: another process has it, or none."""


class OpenedLoad:
    """An uploaded table with what is known of it. Raises UnreadableTable."""

    def __init__(self, load: TableLoad) -> None:
        if load.content is None:
            raise UnreadableTable("The uploaded file has been deleted. Upload it again.")
        self.load = load
        self.table: Table = open_table(bytes(load.content), load.sheet)

    def template(self) -> Template:
        """The template as it was chosen. Raises InvalidTemplate."""
        return template_of(self.load.mapping or {"resource": self.load.resource})

    def mapping(self, using: str) -> tuple[Resource, TableMapping]:
        """Raises InvalidTemplate."""
        template = self.template()
        resource = template.of(current_surface())
        return resource, TableMapping(template, Members(resource), self.table.header, DescriptorWords(using))


def database_of(client: int | None, data_store: int) -> Lease:
    """The lease of the database that the client writes to. Raises ClientGone, DataStoreNotFound, or as `lease`."""
    found = None if client is None else client_of_row(client)
    if found is None:
        raise ClientGone
    if not found.uses_data_stores and api_settings.has_main_store and not data_store:
        return DEFAULT_LEASE
    store = routing_cache().table_after_miss().stores.get(data_store)
    if store is None or store.id not in found.data_store_ids:
        raise DataStoreNotFound
    return lease(store, is_write=True, is_limited=False)


def loader_of(opened: OpenedLoad, using: str, *, is_dry_run: bool) -> tuple[Loader, TableMapping]:
    """Return what loads a table. Raises InvalidTemplate."""
    resource, mapping = opened.mapping(using)
    load = opened.load
    client = cast(int, load.client_id)
    return Loader(
        resource, mapping, client, using, load.data_store, is_dry_run=is_dry_run, correlation_id=f"table-{load.key}"
    ), mapping


def queue(load: TableLoad, *, is_dry_run: bool, by: str) -> bool:
    """Let a process take the load; whether it was not waiting or running already. Its former results are removed."""
    free = Q(state__in=[LoadState.UPLOADED, LoadState.DONE, LoadState.FAILED]) | is_stopped()
    with transaction.atomic(DEFAULT_DB_ALIAS):
        taken = TableLoad.objects.filter(free, pk=load.pk, content__isnull=False).update(
            state=LoadState.QUEUED,
            is_dry_run=is_dry_run,
            **dict.fromkeys(OUTCOMES, 0),
            total=0,
            started_at=None,
            reported_at=timezone.now(),
            ended_at=None,
            failure="",
        )
        if taken:
            TableRow.objects.filter(load=load).delete()
            load.refresh_from_db()
            facts = {**load.audit_facts, "client": load.client.client_id if load.client else None}
            audit.log_change("table loaded", **facts, by=by)
    return bool(taken)


def is_stopped() -> Q:
    """Condition of loads whose process has ended."""
    return Q(state__in=[LoadState.QUEUED, LoadState.RUNNING], reported_at__lt=timezone.now() - SILENT)


def has_stopped(load: TableLoad) -> bool:
    """Return whether the process that had the load has ended."""
    is_under_way = load.state in (LoadState.QUEUED, LoadState.RUNNING)
    return is_under_way and load.reported_at is not None and load.reported_at < timezone.now() - SILENT


def run_next() -> bool:
    """Run the oldest waiting load; whether there was one."""
    with transaction.atomic(DEFAULT_DB_ALIAS):
        waiting = TableLoad.objects.filter(state=LoadState.QUEUED).select_for_update(skip_locked=True)
        load = waiting.order_by("id").first()
        if load is None:
            return False
        now = timezone.now()
        load.state, load.started_at, load.reported_at = LoadState.RUNNING, now, now
        load.save(update_fields=["state", "started_at", "reported_at"])
    _run(load)
    return True


def _run(load: TableLoad) -> None:
    failure = ""
    try:
        with database_of(load.client_id, load.data_store) as leased:
            _load(load, leased.using)
    except _EXPECTED as error:
        failure = str(error) or "The data store of the load cannot be used."
    except (DatabaseError, InterfaceError):
        _log.exception("the table %s was not loaded to its end", load.key)
        failure = "The database did not answer. What was written stays; start it again."
    except TakenOver:
        return
    except Exception:  # A bug ends one load, not those that wait.
        _log.exception("the table %s was not loaded to its end", load.key)
        failure = "The server has failed. What was written stays; its log says more."
    ended = {"state": LoadState.FAILED if failure else LoadState.DONE, "failure": failure, "ended_at": timezone.now()}
    is_loaded = not failure and not load.is_dry_run
    _of_this_run(load).update(**ended, **({"content": None} if is_loaded else {}))


_EXPECTED = (ClientGone, InvalidTemplate, UnreadableTable, DataStoreNotFound)


def _load(load: TableLoad, using: str) -> None:
    opened = OpenedLoad(load)
    loader, mapping = loader_of(opened, using, is_dry_run=load.is_dry_run)
    total = sum(1 for row in opened.table.rows() if not mapping.reason_to_leave_out(row))
    _of_this_run(load).update(total=total, reported_at=timezone.now())
    for results in loader.results(mapping.documents(opened.table.rows())):
        _keep(load, results)


def _of_this_run(load: TableLoad) -> QuerySet[TableLoad]:
    """The load as long as no one has started it again."""
    return TableLoad.objects.filter(pk=load.pk, state=LoadState.RUNNING, started_at=load.started_at)


def _keep(load: TableLoad, results: Iterable[RowResult]) -> None:
    """Add results and their counts. Raises TakenOver."""
    rows = [
        TableRow(
            load=load, row=each.row, outcome=each.outcome, document=each.document_uuid, problems=list(each.problems)
        )
        for each in results
    ]
    counts = {outcome: sum(row.outcome == outcome for row in rows) for outcome in OUTCOMES}
    with transaction.atomic(DEFAULT_DB_ALIAS):
        added = {name: F(name) + number for name, number in counts.items()}
        if not _of_this_run(load).update(reported_at=timezone.now(), **added):
            raise TakenOver
        TableRow.objects.bulk_create(rows, batch_size=500)


def forget_old_contents() -> int:
    """Delete the contents of tables that were uploaded more than a day ago; how many there were."""
    old = timezone.now() - _CONTENT_IS_KEPT
    return TableLoad.objects.filter(content__isnull=False, created_at__lt=old).update(content=None)


class Worker:
    """Loads what is waiting, one table after the other, in a thread that ends when nothing is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_wanted = False

    def wake(self) -> None:
        """Load what is waiting, in a thread of this process."""
        with self._lock:
            self._is_wanted = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tables", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while self._is_still_wanted():
            try:
                while run_next():
                    pass
            except (DatabaseError, InterfaceError):
                _log.exception("tables cannot be loaded now")
            finally:
                connections.close_all()

    def _is_still_wanted(self) -> bool:
        with self._lock:
            wanted, self._is_wanted = self._is_wanted, False
            if not wanted:
                self._thread = None
            return wanted


worker = Worker()


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell of a mapped column, with what is wrong with it."""

    name: str
    text: str
    problems: Sequence[Problem]


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row with its mapped cells, what is wrong without a cell, and the document that begins with it."""

    number: int
    outcome: str
    cells: Sequence[ShownCell]
    others: Sequence[Problem]
    document: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The mapped columns, by name and member, and rows. `refused` is the number of those that would be refused."""

    columns: Sequence[tuple[str, str]]
    rows: Sequence[ShownRow]
    refused: int


def preview_of(opened: OpenedLoad) -> Preview:
    """Try the first rows. Raises UnreadableTable, InvalidTemplate, and what `database_of` does."""
    load = opened.load
    rows = list(islice(opened.table.rows(), ROWS_OF_PREVIEW))
    with database_of(load.client_id, load.data_store) as leased:
        loader, mapping = loader_of(opened, leased.using, is_dry_run=True)
        documents = list(mapping.documents(rows))
        results = {each.row: each for chunk in loader.results(documents) for each in chunk}
    columns = opened.table.header.columns
    begun = {each.rows[0]: each for each in documents}
    shown = [
        ShownRow(
            row.number,
            results[row.number].outcome,
            [_cell(columns[number], number, row.cells[number], results[row.number]) for number in mapping.members],
            [each for each in results[row.number].problems if not each.column],
            _text(begun.get(row.number)),
        )
        for row in rows
    ]
    heads = [(columns[number], ", ".join(members)) for number, members in mapping.members.items()]
    return Preview(heads, shown, sum(row.outcome == REFUSED for row in shown))


def _cell(name: str, number: int, text: str, result: RowResult) -> ShownCell:
    letter = column_letter(number)
    return ShownCell(name, text, [each for each in result.problems if each.column == letter])


def _text(document: MappedDocument | None) -> str:
    return "" if document is None else orjson.dumps(document.body, option=orjson.OPT_INDENT_2).decode(errors="replace")
