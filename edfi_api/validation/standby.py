"""Reading from a streaming replica that has everything up to a moment of the primary."""

import time
from dataclasses import dataclass

from edfi_api.storage.replicas import replicas

from .connections import connected

_SECONDS_TO_CATCH_UP = 60.0
_SECONDS_BETWEEN_LOOKS = 0.1
# Its commit writes to disk, and so to replicas, whatever was committed before without waiting for the disk.
_MARK = "SELECT pg_logical_emit_message(true, 'meadowlark', 'run_validation')"
_WRITTEN = "SELECT pg_current_wal_flush_lsn()::text"
_HAS_REPLAYED = "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %(log)s::pg_lsn"


class NoReplica(Exception):
    """The database has no replica."""

    def __str__(self) -> str:
        return "the database has no replica: see DATABASE_REPLICA_URL"


@dataclass
class ReplicaLags(Exception):
    """The replica did not catch up in time."""

    seconds: float

    def __str__(self) -> str:
        return f"the replica has not caught up within {self.seconds:.0f} seconds"


def caught_up_replica(using: str) -> str:
    """The alias of a replica that has replayed what the primary had written before the call. Raises NoReplica and
    ReplicaLags."""
    aliases = replicas(using)
    if not aliases:
        raise NoReplica
    with connected(using) as primary:
        primary.execute(_MARK)
        [[log]] = primary.execute(_WRITTEN)
    deadline = time.monotonic() + _SECONDS_TO_CATCH_UP
    with connected(aliases[0]) as replica:
        while not replica.execute(_HAS_REPLAYED, {"log": log}).fetchall()[0][0]:
            if time.monotonic() > deadline:
                raise ReplicaLags(_SECONDS_TO_CATCH_UP)
            time.sleep(_SECONDS_BETWEEN_LOOKS)
    return aliases[0]
