"""Values of a body as text, for natural keys and messages."""

from decimal import Decimal
from typing import Any


def as_text(value: Any) -> str:
    """`122`, `true`, `2026-01-05`, `1.5`: without trailing zeros or exponent, so equal numbers give equal texts."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Decimal):
        return f"{Decimal(str(value)).normalize():f}"
    return str(value)
