"""Statements as messages of PostgreSQL's protocol."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

# Messages by which a client executes a statement.
_RUNS_SOMETHING = ("\tExecute\t", "\tQuery\t")


@contextmanager
def statements_sent(tmp_path: Path) -> Iterator[list[str]]:
    """A list that contains, after the block, an entry for each statement sent over this thread's connection."""
    sent: list[str] = []
    protocol = tmp_path / "protocol"
    with protocol.open("w") as file:
        connection.connection.pgconn.trace(file.fileno())
        yield sent
        connection.connection.pgconn.untrace()
    lines = [line for line in protocol.read_text().splitlines() if "\tF\t" in line]
    sent += [line for line in lines if any(kind in line for kind in _RUNS_SOMETHING)]
