"""Statements with named parameters, prepared per connection and executed through psycopg's libpq wrapper.

A psycopg cursor selects dumpers and loaders and checks its statement cache at each execution, which would take about as
long as the rest of a GET by id. Here a statement is compiled once and values are passed as text; only the types that
the store's statements use are supported.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from select import POLLIN, POLLOUT, poll
from typing import Any, NamedTuple
from uuid import UUID
from weakref import WeakKeyDictionary

from psycopg import Connection, DataError, OperationalError
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from edfi_api.core.storage.driver.sql import Sql
from references.identity import uuid_of

Row = tuple[Any, ...]

# The number of distinct query-by-example statements is unbounded; the least recently used are deallocated.
_MOST_PREPARED = 200
# Of the rows of several statements, how much is in memory at a time, in bytes.
_MOST_BYTES_TOGETHER = 2 * 2**20
_SUCCEEDED = (int(ExecStatus.TUPLES_OK), int(ExecStatus.COMMAND_OK))
_FATAL_SEVERITIES = (b"FATAL", b"PANIC")
# `%(name)s`, and the type to which it is cast, if there is one.
_NAMED_PARAMETER = re.compile(r"%\((\w+)\)s(?:::(\w+(?:\[\])?))?")

# Column number and the function that reads its text, for each column of a result.
_Readers = list[tuple[int, Callable[[bytes], Any]]]


@dataclass(frozen=True, slots=True)
class _Statement:
    """`sql` has `$1` for each occurrence of the first of `names`, and so on."""

    sql: bytes
    names: tuple[str, ...]


@dataclass(slots=True)
class _Prepared:
    """A statement that is prepared on one connection. Its result columns are the same at each execution."""

    name: bytes
    readers: _Readers | None = None


# The prepared statements of each connection by SQL text, least recently used first.
_prepared: WeakKeyDictionary[Connection[Any], OrderedDict[bytes, _Prepared]] = WeakKeyDictionary()


class BoundStatement(NamedTuple):
    """A statement with the values of its parameters, both as they are sent; `text` is that of the `Sql`."""

    text: str
    compiled: _Statement
    values: Any

    def with_value(self, position: int, value: Any) -> "BoundStatement":
        """Return the same statement with another value of the parameter at this position."""
        values = self.values.copy()
        values[position] = _WRITERS[type(value)](value)
        return BoundStatement(self.text, self.compiled, values)


def bound(statement: Sql, hides_values: bool = False) -> BoundStatement:
    """The statement with the values of its parameters.

    `hides_values`: PostgreSQL plans the statement without the values of its parameters, once. A parameter of another
    type than bigint then needs a cast.
    """
    compiled, parameters = _compiled(statement.text, hides_values), statement.parameters
    values = [None if (value := parameters[name]) is None else _WRITERS[type(value)](value) for name in compiled.names]
    return BoundStatement(statement.text, compiled, values)


def run(statement: BoundStatement, connection: Connection[Any]) -> list[Row]:
    """Execute a prepared statement and return its rows. Raises psycopg's errors; does not manage transactions."""
    pgconn = connection.pgconn
    prepared = _prepared_on(connection, statement.compiled)
    result = _checked(pgconn.exec_prepared(prepared.name, statement.values), pgconn)
    if prepared.readers is None:
        prepared.readers = _readers(result)
    return _rows(result, prepared.readers)


def run_unprepared(statement: BoundStatement, connection: Connection[Any]) -> list[Row]:
    """Do what `run` does, behind a pooler in transaction mode, where connections cannot keep prepared statements."""
    pgconn = connection.pgconn
    result = _checked(pgconn.exec_params(statement.compiled.sql, statement.values), pgconn)
    return _rows(result, _readers(result))


def run_together(statements: Sequence[BoundStatement], connection: Connection[Any]) -> list[list[Row] | None]:
    """Execute statements that only read, in one round trip, and return the rows of each; None for one that has failed,
    for those after it, and for what exceeds `_MOST_BYTES_TOGETHER`.

    libpq's pipeline mode sends them without waiting in between, so this process and the session wake up once for all.
    The connection is closed if it cannot be used any more. Raises psycopg's errors.
    """
    pgconn, free = connection.pgconn, _MOST_BYTES_TOGETHER
    prepared = [_prepared_on(connection, statement.compiled) for statement in statements]
    found: list[list[Row] | None] = []
    pgconn.enter_pipeline_mode()
    try:
        for each, statement in zip(prepared, statements, strict=True):
            pgconn.send_query_prepared(each.name, statement.values)
        pgconn.pipeline_sync()
        for each, result in zip(prepared, _pipeline_results(pgconn), strict=True):
            rows = None
            if result.status in _SUCCEEDED and free > 0:
                each.readers = each.readers or _readers(result)
                rows = _rows(result, each.readers)
                free -= sum(len(value) for row in rows for value in row if isinstance(value, bytes))
            found.append(rows)
        pgconn.exit_pipeline_mode()
    except BaseException:  # Another statement would meet what is left of these.
        pgconn.finish()
        raise
    return found


def _pipeline_results(pgconn: PGconn) -> Iterator[PGresult]:
    """Yield the result of each statement of a pipeline, up to its end."""
    poller = poll()
    poller.register(pgconn.socket, POLLIN | POLLOUT)
    while pgconn.flush():
        poller.poll()
        pgconn.consume_input()
    poller.modify(pgconn.socket, POLLIN)
    while True:
        while pgconn.is_busy():
            poller.poll()
            pgconn.consume_input()
        result = pgconn.get_result()
        if result is None:  # It separates the results of two statements.
            if pgconn.status == ConnStatus.BAD:
                raise OperationalError(pgconn.get_error_message())
        elif result.status == ExecStatus.PIPELINE_SYNC:
            return
        else:
            yield result


def forget(connection: Connection[Any]) -> None:
    """Drop the record of this connection's prepared statements, after the server has deallocated them."""
    _prepared.pop(connection, None)


@lru_cache(maxsize=1024)
def _compiled(statement: str, hides_values: bool = False) -> _Statement:
    names = tuple(dict.fromkeys(found[1] for found in _NAMED_PARAMETER.finditer(statement)))

    def numbered(found: re.Match[str]) -> str:
        number, type_ = f"${names.index(found[1]) + 1}", found[2]
        if hides_values:
            # The planner does not look into a scalar subquery. With the value itself it may plan at each execution.
            type_ = type_ or "bigint"
            return f"(SELECT {number}::{type_})::{type_}"
        return f"{number}::{type_}" if type_ else number

    return _Statement(_NAMED_PARAMETER.sub(numbered, statement).encode(), names)


def _prepared_on(connection: Connection[Any], compiled: _Statement) -> _Prepared:
    """The prepared statement of this connection; prepares it at first use. Statements that differ in parameter names
    only share one."""
    known = _prepared.get(connection)
    if known is None:
        known = _prepared[connection] = OrderedDict()
    prepared = known.get(compiled.sql)
    if prepared is None:
        # First, since it is refused after DEALLOCATE ALL, and nothing is known of this connection then.
        _forget_the_oldest(known, connection.pgconn)
        prepared = known[compiled.sql] = _prepare(compiled, connection.pgconn)
    else:
        known.move_to_end(compiled.sql)
    return prepared


def _prepare(compiled: _Statement, pgconn: PGconn) -> _Prepared:
    """The name is a hash of the text: behind a pooler that is not declared in settings, a session may already have
    statements of other clients, and a name must never refer to a different text."""
    name = b"meadowlark_" + blake2b(compiled.sql, digest_size=16).hexdigest().encode()
    _checked(pgconn.prepare(name, compiled.sql), pgconn)
    return _Prepared(name)


def _forget_the_oldest(known: OrderedDict[bytes, _Prepared], pgconn: PGconn) -> None:
    if len(known) >= _MOST_PREPARED:
        _, oldest = known.popitem(last=False)
        _checked(pgconn.exec_(b"DEALLOCATE " + oldest.name), pgconn)


def _checked(result: PGresult, pgconn: PGconn) -> PGresult:
    if result.status in _SUCCEEDED:
        return result
    state = result.error_field(DiagnosticField.SQLSTATE)
    if state is None or result.error_field(DiagnosticField.SEVERITY_NONLOCALIZED) in _FATAL_SEVERITIES:
        pgconn.finish()  # The server has closed the session, even if libpq does not report that yet.
    if state is None:
        raise OperationalError(result.get_error_message())  # the error is libpq's, not the server's
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
    if "\0" in value:  # libpq would read it as the end of the text
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
    """A reader of arrays whose items are never quoted."""
    return lambda text: [read(item) for item in text[1:-1].split(b",")] if text != b"{}" else []


_ITEM_WRITERS: dict[type, Callable[[Any], bytes]] = {UUID: _write_uuid, int: _write_number, str: _write_quoted}
_WRITERS: dict[type, Callable[[Any], bytes]] = {
    str: _write_text,
    int: _write_number,
    bool: _write_boolean,
    UUID: _write_uuid,
    list: _write_array,
}

# Readers of values by type OID.
_READERS: dict[int, Callable[[bytes], Any]] = {
    16: _read_boolean,
    20: int,  # bigint
    21: int,  # smallint
    23: int,  # integer
    25: bytes.decode,  # text
    1005: _array_of(int),  # smallint[]
    2950: _read_uuid,
    2951: _array_of(_read_uuid),
    3802: bytes,  # jsonb, unparsed
}
