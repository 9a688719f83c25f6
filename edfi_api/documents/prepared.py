"""Statements with named parameters, prepared on a connection and run by libpq itself.

A cursor works out anew at each execution how every parameter is written, whether the statement is prepared and how
every column is read. Measured, that was half of what a request for one document took. Here a statement is looked at
once and values travel as text; only the types are known that our statements have.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from psycopg import Connection, DataError, OperationalError
from psycopg.errors import error_from_result
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from references.identity import uuid_of

Row = tuple[Any, ...]

# Queries by example have as many texts as clients have ideas; a connection forgets those not asked for a while.
_MOST_PREPARED = 200
_SUCCEEDED = (int(ExecStatus.TUPLES_OK), int(ExecStatus.COMMAND_OK))
_LAST_WORDS = (b"FATAL", b"PANIC")
_NAMED_PARAMETER = re.compile(r"%\((\w+)\)s")

# How each column of a result is read.
_Readers = list[tuple[int, Callable[[bytes], Any]]]


@dataclass(frozen=True, slots=True)
class _Statement:
    """`sql` has `$1` for the first of the names, wherever it stands."""

    sql: bytes
    names: tuple[str, ...]


@dataclass(slots=True)
class _Prepared:
    """A statement as one connection knows it. Its results have the same columns each time."""

    name: bytes
    readers: _Readers | None = None


# By their SQL.
_prepared: WeakKeyDictionary[Connection[Any], OrderedDict[bytes, _Prepared]] = WeakKeyDictionary()


def run(statement: str, parameters: Mapping[str, Any], connection: Connection[Any]) -> list[Row]:
    """The rows of a statement that returns some. Raises psycopg's errors; knows nothing of transactions."""
    compiled, pgconn = _compiled(statement), connection.pgconn
    prepared = _prepared_on(connection, compiled)
    result = _checked(pgconn.exec_prepared(prepared.name, _values(compiled, parameters)), pgconn)
    if prepared.readers is None:
        prepared.readers = _readers(result)
    return _rows(result, prepared.readers)


def run_unprepared(statement: str, parameters: Mapping[str, Any], connection: Connection[Any]) -> list[Row]:
    """The same for a connection whose other end changes from one transaction to the next: it can keep nothing."""
    compiled = _compiled(statement)
    pgconn = connection.pgconn
    result = _checked(pgconn.exec_params(compiled.sql, _values(compiled, parameters)), pgconn)
    return _rows(result, _readers(result))


def forget(connection: Connection[Any]) -> None:
    """Prepare every statement anew on this connection, which has lost them."""
    _prepared.pop(connection, None)


@lru_cache(maxsize=1024)
def _compiled(statement: str) -> _Statement:
    names = tuple(dict.fromkeys(_NAMED_PARAMETER.findall(statement)))
    numbered = _NAMED_PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", statement)
    return _Statement(numbered.encode(), names)


def _values(compiled: _Statement, parameters: Mapping[str, Any]) -> Any:
    return [_WRITERS[type(value := parameters[name])](value) for name in compiled.names]


def _prepared_on(connection: Connection[Any], compiled: _Statement) -> _Prepared:
    """The statement as the connection knows it; it is prepared if it is new there. Statements whose parameters have
    other names are one and the same to the server."""
    known = _prepared.get(connection)
    if known is None:
        known = _prepared[connection] = OrderedDict()
    prepared = known.get(compiled.sql)
    if prepared is None:
        prepared = known[compiled.sql] = _prepare(compiled, connection.pgconn)
        _forget_the_oldest(known, connection.pgconn)
    else:
        known.move_to_end(compiled.sql)
    return prepared


def _prepare(compiled: _Statement, pgconn: PGconn) -> _Prepared:
    """Named after its text: behind a pooler that nobody told us of, a name must never mean another's statement."""
    name = b"meadowlark_" + blake2b(compiled.sql, digest_size=16).hexdigest().encode()
    _checked(pgconn.prepare(name, compiled.sql), pgconn)
    return _Prepared(name)


def _forget_the_oldest(known: OrderedDict[bytes, _Prepared], pgconn: PGconn) -> None:
    if len(known) > _MOST_PREPARED:
        _, oldest = known.popitem(last=False)
        _checked(pgconn.exec_(b"DEALLOCATE " + oldest.name), pgconn)


def _checked(result: PGresult, pgconn: PGconn) -> PGresult:
    if result.status in _SUCCEEDED:
        return result
    state = result.error_field(DiagnosticField.SQLSTATE)
    if state is None or result.error_field(DiagnosticField.SEVERITY_NONLOCALIZED) in _LAST_WORDS:
        pgconn.finish()  # The server has ended the session, whether libpq has noticed already or not.
    if state is None:
        raise OperationalError(result.get_error_message())  # libpq's own words
    raise error_from_result(result)


def _readers(result: PGresult) -> _Readers:
    return [(column, _READERS[result.ftype(column)]) for column in range(result.nfields)]


def _rows(result: PGresult, readers: _Readers) -> list[Row]:
    value = result.get_value
    return [
        tuple([None if (text := value(row, column)) is None else read(text) for column, read in readers])
        for row in range(result.ntuples)
    ]


def _write_text(value: str) -> bytes:
    if "\0" in value:  # libpq would take it for the end
        raise DataError("PostgreSQL text cannot contain NUL (0x00) bytes")
    return value.encode()


def _write_array(values: list[Any]) -> bytes:
    return b"{%s}" % b",".join([_ITEM_WRITERS[type(value)](value) for value in values])


def _write_quoted(value: str) -> bytes:
    return b'"%s"' % _write_text(value).replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def _write_number(value: int) -> bytes:
    return b"%d" % value


def _write_boolean(value: bool) -> bytes:
    return b"t" if value else b"f"


def _write_uuid(value: UUID) -> bytes:
    return b"%032x" % value.int


def _read_uuid(text: bytes) -> UUID:
    return uuid_of(int(text.replace(b"-", b""), 16))


def _read_boolean(text: bytes) -> bool:
    return text == b"t"


def _array_of(read: Callable[[bytes], Any]) -> Callable[[bytes], list[Any]]:
    """For items that are never quoted."""
    return lambda text: [read(item) for item in text[1:-1].split(b",")] if text != b"{}" else []


_ITEM_WRITERS: dict[type, Callable[[Any], bytes]] = {UUID: _write_uuid, int: _write_number, str: _write_quoted}
_WRITERS: dict[type, Callable[[Any], bytes | None]] = {
    str: _write_text,
    int: _write_number,
    bool: _write_boolean,
    UUID: _write_uuid,
    list: _write_array,
    type(None): lambda value: None,
}

# By the type's number in PostgreSQL's catalog.
_READERS: dict[int, Callable[[bytes], Any]] = {
    16: _read_boolean,
    20: int,  # bigint
    21: int,  # smallint
    23: int,  # integer
    25: bytes.decode,  # text
    1005: _array_of(int),  # smallint[]
    2950: _read_uuid,
    2951: _array_of(_read_uuid),
    3802: bytes,  # jsonb, as it came
}
