"""Deletes and updates of many rows, in batches."""

from collections.abc import Mapping
from typing import Any

from django.db import connections

_ROWS = 5_000


def in_batches(statement: str, parameters: Mapping[str, Any], using: str) -> int:
    """Execute a statement, which affects at most `%(batch)s` rows, until there are no more; the number of rows.

    Each batch is a transaction of its own, so locks are short and an interrupted purge keeps its progress.
    """
    total = 0
    with connections[using].cursor() as cursor:
        while True:
            cursor.execute(statement, {**parameters, "batch": _ROWS})
            rows: int = cursor.rowcount
            total += rows
            if rows < _ROWS:
                return total
