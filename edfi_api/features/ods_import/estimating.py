"""What an operator wants to know before an import: what the source is, what would be lost, how long it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from edfi_api.features.ods_import.compatibility import (
    ServedModel,
    is_of_a_project,
    losses,
    unbounded,
    unserved_extensions,
)
from edfi_api.features.ods_import.document_queries import DocumentQuery
from edfi_api.features.ods_import.ods_source import Incompatible, OdsSource, quoted, quoted_name
from edfi_api.features.sql_views.shape import Envelope

# On two processors for both databases; of the demo district they were twice as many, with 1,800 bytes each.
_DOCUMENTS_A_SECOND = 5_000
_BYTES_A_DOCUMENT = 2_000
_SAYS_ITS_STANDARD = """
SELECT EXISTS (
    SELECT FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE n.nspname = 'util' AND p.proname = 'getedfistandardversion' AND p.pronargs = 0
       AND has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE')
)
"""
# The table of the tool that applies the scripts of an ODS.
_JOURNAL = "public.DeployJournal"
_LAST_SCRIPT = 'SELECT scriptname, applied::date FROM public."DeployJournal" ORDER BY applied DESC LIMIT 1'


@dataclass(frozen=True, slots=True)
class Facts:
    """The source: its data standard and the version of the ODS/API, each with what says so; the schemas of its
    projects; whether it records deletes and key changes."""

    standard: str
    server: str
    projects: list[str]
    is_tracked: bool
    newest_version: int


def facts(model: ServedModel, source: OdsSource, found: Incompatible | None) -> Facts:
    """`found` is their incompatibility. Raises SourceUnusable."""
    schemas = {table.partition(".")[0] for table in source.tables}
    return Facts(
        standard=_standard(model, source, found),
        server=_server(source),
        projects=sorted(filter(is_of_a_project, schemas)),
        is_tracked=any(schema.startswith("tracked_changes_") for schema in schemas),
        newest_version=source.newest_version(),
    )


def _standard(model: ServedModel, source: OdsSource, found: Incompatible | None) -> str:
    if source.rows(_SAYS_ITS_STANDARD) == [(True,)]:
        return f"{source.rows('SELECT util.getedfistandardversion()')[0][0]} (util.getedfistandardversion)"
    served = model.surface.core_project.version
    return f"{found.standard or served} (which its tables resemble most)" if found else f"{served} (by its tables)"


def _server(source: OdsSource) -> str:
    """No table of an ODS says it, so it is concluded from their shape. The journal of the scripts that have made the
    database is quoted, if the role may read it."""
    has_aggregates = any(Envelope.AGGREGATE_DATA in columns for columns in source.tables.values())
    of_tables = (
        "as of 7.3 (they have aggregatedata)" if has_aggregates else "older than 7.3 (they have no aggregatedata)"
    )
    has_journal = source.may_read(_JOURNAL) and source.tables[_JOURNAL].keys() >= {"scriptname", "applied"}
    last = source.rows(_LAST_SCRIPT) if has_journal else []
    return "".join([of_tables, *(f"; the last of its scripts is {script}, of {day}" for script, day in last)])


def faults(model: ServedModel, source: OdsSource, found: Incompatible | None) -> Iterator[str]:
    """What cannot be imported as it is: another standard, tables and columns that are missing, or have no place; texts
    that are too long."""
    if found:
        yield from incompatibilities(found)
        yield from (f"{name}: the served model needs it, and the source does not have it" for name in found.missing)
    yield from map(str, unserved_extensions(model, source))
    yield from map(str, losses(model, source))
    for table, column, length in unbounded(model, source):
        # The bytes are known without reading a text, which may be of 1 GB.
        name = quoted_name(column)
        bytes_, characters = f"octet_length({name})", f"char_length({name})"
        is_longer = f"{bytes_} > {length:d} AND ({bytes_} > {4 * length:d} OR {characters} > {length:d})"
        [(count,)] = source.rows(f"SELECT count(*) FROM {quoted(table)} WHERE {is_longer}")
        if count:
            yield f"{table}.{column}: {count:,} texts of more than {length} characters, which are refused"


def incompatibilities(found: Incompatible) -> Iterator[str]:
    """What to do about it."""
    if found.standard:
        yield (
            f"the source has the tables of Ed-Fi {found.standard}: import with MEADOWLARK_DATA_STANDARD="
            f"{found.standard}, and change the standard then, by an export and a mapping"
        )
    for name in found.extensions:
        yield f"the extension {name} is served, and the source does not have it: serve without it"


def seconds_needed(documents: int) -> int:
    """Return about how long a first pass takes."""
    return -(-documents // _DOCUMENTS_A_SECOND)


def bytes_needed(documents: int) -> int:
    """Return about how much disk the documents take here, with their indexes."""
    return documents * _BYTES_A_DOCUMENT


def count(source: OdsSource, query: DocumentQuery) -> int:
    """The documents of a resource."""
    return int(source.rows(query.count())[0][0])
