"""Processor time of a server: of a process and all its children, including ended ones."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import psutil

from tests.tools.benchmarks.load import Measured


def with_costs(
    operation: Callable[[], Measured], server: psutil.Process | None, database: psutil.Process | None
) -> Measured:
    """Measures an operation and the processor time of one request in both servers, in microseconds. None: no server."""
    before = [seconds(process) for process in (server, database)]
    measured = operation()
    after = [seconds(process) for process in (server, database)]
    spent = [
        None if start is None or end is None else 1e6 * (end - start) / measured.requests
        for start, end in zip(before, after, strict=True)
    ]
    return replace(measured, server_cost=spent[0], database_cost=spent[1])


def seconds(process: psutil.Process | None) -> float | None:
    """User and system time; that of ended children is included by the operating system."""
    if process is None:
        return None
    own = process.cpu_times()
    living = list(_times(process.children(recursive=True)))
    of_the_living = sum(times.user + times.system for times in living)
    return own.user + own.system + own.children_user + own.children_system + of_the_living


def _times(processes: Iterable[psutil.Process]) -> Iterator[Any]:
    """Return the times without processes that end during the loop, such as autovacuum workers."""
    for each in processes:
        with suppress(psutil.NoSuchProcess):
            yield each.cpu_times()
