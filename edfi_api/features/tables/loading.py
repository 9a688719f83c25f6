"""The documents of a table, written by an API client or only tried, and what became of each row."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import orjson

from edfi_api.common.contributions import contributions
from edfi_api.core.documents import json_text
from edfi_api.core.documents.document_validator import DocumentValidator
from edfi_api.core.security.authenticated_client import client_of_row
from edfi_api.features.tables.exceptions import ClientGone
from edfi_api.features.tables.mapping import MappedDocument, Place, Problem, TableMapping
from edfi_api.model.surface.resource import Resource
from edfi_api.web.batch.on_behalf import BatchOnBehalf
from edfi_api.web.batch.operations import Result
from edfi_api.web.batch.record import BatchFigures

CREATED, UPDATED, UNCHANGED, REFUSED, LEFT_OUT = "created", "updated", "unchanged", "refused", "left out"
# Each row has one of these; a row that is left out is none of the table's.
OUTCOMES = (CREATED, UPDATED, UNCHANGED, REFUSED)
# Documents that are sent together; the first ten that are refused of them have hints.
_AT_ONCE = 100


@dataclass(slots=True)
class RowResult:
    """The result of a row: an outcome, the id of its document, and its problems."""

    row: int
    outcome: str
    document_uuid: str = ""
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Loader:
    """Writes documents of one resource as an API client, by its row id, into a database; `data_store` is its id, 0 for
    the admin database. A dry run writes nothing."""

    resource: Resource
    mapping: TableMapping
    client: int
    using: str
    data_store: int = 0
    is_dry_run: bool = False
    correlation_id: str = ""
    _validator: DocumentValidator = field(init=False)

    def __post_init__(self) -> None:
        self._validator = DocumentValidator(self.resource)

    def results(self, documents: Iterable[MappedDocument]) -> Iterator[list[RowResult]]:
        """The results, some rows at a time. Raises ClientGone, also when the client is disabled in the meantime."""
        seen: dict[Any, int] = {}
        waiting = iter(documents)
        while chunk := list(islice(waiting, _AT_ONCE)):
            yield self._results(chunk, seen)

    def _results(self, chunk: Sequence[MappedDocument], seen: dict[Any, int]) -> list[RowResult]:
        client = client_of_row(self.client)
        if client is None:
            raise ClientGone
        sent = [each for each in chunk if not each.problems]
        batch = BatchOnBehalf(
            client, self.using, self.data_store, correlation_id=self.correlation_id, count=_count_for_runs
        )
        operations = [_operation(self.resource, each.body) for each in sent]
        answers = (batch.tried if self.is_dry_run else batch.write)(operations) if operations else []
        by_position = {answer.operation.position: answer for answer in answers}
        found: list[RowResult] = []
        number = 0
        for document in chunk:
            if document.is_left_out:
                found.append(RowResult(document.rows[0], LEFT_OUT, problems=document.problems))
                continue
            if document.problems:
                found += _refused(document, document.problems)
                continue
            answer, number = by_position.get(number), number + 1
            found += self._of(document, answer, seen)
        return found

    def _of(self, document: MappedDocument, answer: Result | None, seen: dict[Any, int]) -> Iterable[RowResult]:
        first = document.rows[0]
        if answer is None:
            text = "There was no time for this row. Load the table again: what was written stays."
            return _refused(document, [Problem(text, first)])
        if answer.is_refused:
            return _refused(document, list(self._problems(document, answer.problem or {})))
        outcome = CREATED if answer.status == 201 else UNCHANGED if answer.is_unchanged else UPDATED
        notes = []
        identity = self._validator.partial_identity(document.body).referential_id
        earlier = seen.setdefault(identity, first)
        if earlier != first:
            notes.append(Problem(f"Row {earlier} is the same document: this row replaces what that one says.", first))
        return [RowResult(row, outcome, answer.id, notes if row == first else []) for row in document.rows]

    def _problems(self, document: MappedDocument, problem: Mapping[str, Any]) -> Iterator[Problem]:
        """Return the messages of an answer, each at its cells."""
        first = document.rows[0]
        hint = " ".join(problem.get("hints", ()))
        found = 0
        for path, texts in (problem.get("validationErrors") or {}).items():
            for text in texts:
                cells = self.mapping.cells_of(path, document)
                places = _shortest(cells)
                for place, member in places:
                    yield self.mapping.problem(text, place, member, hint)
                if not places:
                    member = path.removeprefix("$").removeprefix(".")
                    yield Problem(
                        f"{text} No column is mapped to it." if member else text, first, member=member, hint=hint
                    )
                hint, found = "", found + 1
        for text in problem.get("errors") or ():
            yield Problem(text, first, hint=hint)
            hint, found = "", found + 1
        if not found:
            yield Problem(str(problem.get("detail") or problem.get("title") or "It was refused."), first, hint=hint)


def _shortest(cells: list[tuple[Place, str]]) -> list[tuple[Place, str]]:
    """The first cell of those that a path names: one sentence is shown once."""
    of_columns = [each for each in cells if each[0].column is not None]
    return (of_columns or cells)[:1]


def _refused(document: MappedDocument, problems: list[Problem]) -> list[RowResult]:
    """A document of several rows is refused as a whole; each problem is at the row that it is about."""
    by_row: dict[int, list[Problem]] = {row: [] for row in document.rows}
    for each in problems:
        by_row[each.row].append(each)
    first = document.rows[0]
    elsewhere = Problem(f"The document of rows {first} to {document.rows[-1]} was refused.", first)
    return [RowResult(row, REFUSED, problems=by_row[row] or [elsewhere._replace(row=row)]) for row in document.rows]


def _operation(resource: Resource, body: Mapping[str, Any]) -> bytes:
    return orjson.dumps({"resource": resource.url_path, "document": orjson.Fragment(json_text.dumps(body))})


def _count_for_runs(figures: BatchFigures) -> None:
    """Count what a client does by tables for the reports of its runs."""
    for counter in contributions("request_counters"):
        counter.count_batch(figures)


COLUMNS = ("row", "outcome", "document", "cell", "column", "member", "problem", "hint")


def problem_text(problem: Problem) -> str:
    """`C7 (Birth date): birthDate Value is ... A hint.`"""
    about = problem.header or problem.member
    place = problem.cell if problem.column else f"Row {problem.row}"
    return " ".join([f"{place}{f' ({about})' if about else ''}:", problem.text, problem.hint]).rstrip()


def report_rows(results: Iterable[RowResult]) -> Iterator[Sequence[object]]:
    """A line for each problem of each row; one for a row without any. `csv_text` writes no cell as a formula."""
    for each in results:
        if not each.problems:
            yield each.row, each.outcome, each.document_uuid, "", "", "", "", ""
        for problem in each.problems:
            cell = problem.cell if problem.column else ""
            found = (cell, problem.header, problem.member, problem.text, problem.hint)
            yield each.row, each.outcome, each.document_uuid, *found
