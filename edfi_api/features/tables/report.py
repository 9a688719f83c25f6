"""What became of rows, as lines of text and as CSV."""

from collections.abc import Iterable, Iterator, Sequence

from edfi_api.features.tables.loading import RowResult
from edfi_api.features.tables.mapping import Problem

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
