"""How far consumers and handlers are behind, for those who watch."""

from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS, connections

# The first change that a consumer has not seen is the first of those of each type. Empty where there is none.
_LAGS = """
SELECT c.name, c.change_version, coalesce(extract(epoch FROM now() - next.changed_at), 0)::float
  FROM change_consumer c LEFT JOIN LATERAL (
    SELECT first.changed_at FROM resource_type t CROSS JOIN LATERAL (
        SELECT changed_at, change_version FROM document_change d
         WHERE d.resource_type_id = t.id AND d.change_version > c.change_version
         ORDER BY d.change_version LIMIT 1
    ) first ORDER BY first.change_version LIMIT 1
  ) next ON true
 ORDER BY c.name
"""
_DEAD_LETTERS = "SELECT handler, count(*) FROM dead_letter GROUP BY handler ORDER BY handler"


@dataclass(frozen=True, slots=True)
class Lag:
    """Of one consumer: its position, and the age of the oldest change that it has not seen, 0 if there is none."""

    consumer: str
    change_version: int
    seconds: float


def lags(using: str = DEFAULT_DB_ALIAS) -> list[Lag]:
    """Of all consumers, handlers among them."""
    with connections[using].cursor() as cursor:
        return [Lag(*row) for row in cursor.execute(_LAGS).fetchall()]


def dead_letters(using: str = DEFAULT_DB_ALIAS) -> dict[str, int]:
    """How many there are of each handler."""
    with connections[using].cursor() as cursor:
        return dict(cursor.execute(_DEAD_LETTERS).fetchall())
