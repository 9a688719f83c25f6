"""Why no data store answers a request. They carry facts; status and texts for clients are in
`problem_details.catalog`."""

from dataclasses import dataclass


class TenantMissing(Exception):
    """The address begins with no tenant, which this route needs."""


class TenantMalformed(Exception):
    """The first segment of the address has characters that no name of a tenant has."""


class TenantTooLong(Exception):
    """The first segment of the address is longer than any name of a tenant."""


class TenantUnknown(Exception):
    """There is no tenant of this name. Only public metadata say so."""


class NoDataStores(Exception):
    """The client has no data store, and the main one does not count."""


class DataStoreNotFound(Exception):
    """None of the client's data stores has exactly the context of the address."""


class AmbiguousDataStore(Exception):
    """Several of the client's data stores have the context of the address."""


@dataclass
class ConnectionUnusable(Exception):
    """A connection string is missing, cannot be decrypted or read, or is not allowed. `reason` has no part of it."""

    reason: str


class ConnectionNotAllowed(ConnectionUnusable):
    """It could be read, but a data store must not have it."""


class NotProvisioned(Exception):
    """The database has no tables, or lacks migrations that this version needs."""


@dataclass
class DataStoreUnavailable(Exception):
    """The database does not answer, is too slow, or the data store is offline; worth a retry after so many seconds.
    `reason` is one word, for logs and metrics."""

    retry_after: int
    reason: str


class DataStoreReadOnly(Exception):
    """A write, to a data store in the state `readOnly`."""


class SnapshotNotFound(Exception):
    """The client requests a snapshot, and the data store has none."""


class NoSnapshots(Exception):
    """The client requests a snapshot, and uses the admin database, which has none."""


class SnapshotReadOnly(Exception):
    """A write, to a snapshot."""


class NoStoreKey(Exception):
    """There is no key that outlasts this process, so a connection string cannot be stored."""
