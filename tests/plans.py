"""Plans of statements, as `EXPLAIN (ANALYZE, FORMAT JSON)` returns them."""

from typing import Any


def most_rows(plan: dict[str, Any]) -> float:
    """Of any node: the rows that it returns, in all its repetitions."""
    return max([plan["Actual Rows"] * plan["Actual Loops"], *(most_rows(each) for each in plan.get("Plans", ()))])
