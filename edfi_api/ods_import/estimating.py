"""What an operator wants to know before an import: what the source is, what would be lost, how long it takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from edfi_api.ods_import.document_queries import DocumentQuery
from edfi_api.ods_import.fitting import ServedModel, losses, missing, unbounded
from edfi_api.ods_import.ods_source import OdsSource, quoted, quoted_name

# On two processors for both databases; of the demo district they were twice as many, with 1,800 bytes each.
_DOCUMENTS_A_SECOND = 5_000
_BYTES_A_DOCUMENT = 2_000
_SCHEMA_OF_A_PROJECT = re.compile(r"(?!auth|changes|dbo|interop|public|util|tracked_)\w+\Z")


@dataclass(frozen=True, slots=True)
class Facts:
    """The source: the version of its data standard, if it says so, and the schemas of its projects."""

    standard: str
    projects: list[str]
    is_tracked: bool
    newest_version: int


def facts(source: OdsSource) -> Facts:
    """Raises SourceUnusable."""
    schemas = {table.partition(".")[0] for table in source.tables}
    return Facts(
        standard=_standard(source),
        projects=sorted(schema for schema in schemas if _SCHEMA_OF_A_PROJECT.match(schema)),
        is_tracked=any(schema.startswith("tracked_changes_") for schema in schemas),
        newest_version=source.newest_version(),
    )


def _standard(source: OdsSource) -> str:
    if source.rows("SELECT to_regprocedure('util.getedfistandardversion()')") == [(None,)]:
        return ""
    return str(source.rows("SELECT util.getedfistandardversion()")[0][0])


def faults(model: ServedModel, source: OdsSource) -> Iterator[str]:
    """What cannot be imported as it is: tables and columns that are missing, or have no place; texts that are too
    long."""
    for name in missing(model, source):
        yield f"{name}: the served model needs it, and the source does not have it"
    for loss in losses(model, source):
        yield str(loss)
    for table, column, length in unbounded(model, source):
        condition = f"char_length({quoted_name(column)}) > {length:d}"
        [(count,)] = source.rows(f"SELECT count(*) FROM {quoted(table)} WHERE {condition}")
        if count:
            yield f"{table}.{column}: {count:,} texts of more than {length} characters, which are refused"


def seconds_needed(documents: int) -> int:
    """About how long a first pass takes."""
    return -(-documents // _DOCUMENTS_A_SECOND)


def bytes_needed(documents: int) -> int:
    """About how much disk the documents take here, with their indexes."""
    return documents * _BYTES_A_DOCUMENT


def count(source: OdsSource, query: DocumentQuery) -> int:
    """The documents of a resource."""
    return int(source.rows(query.count())[0][0])
