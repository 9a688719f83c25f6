"""Processor time of the process of PostgreSQL that serves a connection, on this machine (`/proc`, so on Linux)."""

from pathlib import Path
from typing import Any

import psycopg

RUNS = 3


def processor_time(connection: psycopg.Connection[Any]) -> float:
    """Milliseconds that the process of the connection has run."""
    nanoseconds = Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text().split()[0]
    return int(nanoseconds) / 1_000_000


def least(connection: psycopg.Connection[Any], statement: str) -> float:
    """Milliseconds for a statement and its rows, the least of the runs."""
    taken = []
    for _ in range(RUNS):
        before = processor_time(connection)
        connection.execute(statement).fetchall()
        taken.append(processor_time(connection) - before)
    return min(taken)
