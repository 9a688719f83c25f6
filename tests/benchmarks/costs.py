"""Processor time of a server: of a process with all that it started, those that ended among them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import psutil

from tests.benchmarks.load import Measured


def with_costs(
    operation: Callable[[], Measured], server: psutil.Process | None, database: psutil.Process | None
) -> Measured:
    """Measure, and tell what one request took of these two in microseconds; None stands for no server."""
    before = [seconds(process) for process in (server, database)]
    measured = operation()
    after = [seconds(process) for process in (server, database)]
    spent = [
        None if start is None or end is None else 1e6 * (end - start) / measured.requests
        for start, end in zip(before, after, strict=True)
    ]
    return replace(measured, server_cost=spent[0], database_cost=spent[1])


def seconds(process: psutil.Process | None) -> float | None:
    """User and system time; a process has that of its children from when they have ended."""
    if process is None:
        return None
    own = process.cpu_times()
    living = list(_times(process.children(recursive=True)))
    of_the_living = sum(times.user + times.system for times in living)
    return own.user + own.system + own.children_user + own.children_system + of_the_living


def _times(processes: Iterable[psutil.Process]) -> Iterator[Any]:
    """Without those that end meanwhile, as workers of autovacuum do."""
    for each in processes:
        with suppress(psutil.NoSuchProcess):
            yield each.cpu_times()
