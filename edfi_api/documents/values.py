"""Values of a body as text, the way they stand in natural keys and in messages."""

from decimal import Decimal
from typing import Any


def as_text(value: Any) -> str:
    """`122`, `true`, `2026-01-05`, `1.5`: numbers without a trailing zero or an exponent, so equal ones look equal."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Decimal):
        return f"{Decimal(str(value)).normalize():f}"
    return str(value)
