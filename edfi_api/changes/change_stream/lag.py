"""The lag of consumers and handlers, for metrics."""

from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS, connections

# The first unread change of a consumer is the minimum over the first unread change of each resource type, which an
# index finds.
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
    """The position of a consumer, and the age of the oldest change that it has not received; 0 if there is none."""

    consumer: str
    change_version: int
    seconds: float


def lags(using: str = DEFAULT_DB_ALIAS) -> list[Lag]:
    """The lag of all consumers, including handlers."""
    with connections[using].cursor() as cursor:
        return [Lag(*row) for row in cursor.execute(_LAGS).fetchall()]


def dead_letters(using: str = DEFAULT_DB_ALIAS) -> dict[str, int]:
    """Handler → number of its dead letters."""
    with connections[using].cursor() as cursor:
        return dict(cursor.execute(_DEAD_LETTERS).fetchall())
