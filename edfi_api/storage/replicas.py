"""The replicas of each database: databases that only answer reads, somewhat later (`queries.replica`)."""

from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.storage.database_state import database_state

REPLICA = "replica"


class Replicas:
    """The aliases of a database's replicas: that of the settings for the control database; those of a data store are
    set when it is used."""

    def __init__(self, using: str) -> None:
        is_named = using == DEFAULT_DB_ALIAS and REPLICA in connections.settings
        self.aliases: tuple[str, ...] = (REPLICA,) if is_named else ()


def replicas(using: str) -> tuple[str, ...]:
    """The aliases of the replicas of a database."""
    return database_state(using).value(Replicas).aliases
