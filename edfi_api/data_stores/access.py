"""A data store that was found → the alias of its database, if it can be used."""

from edfi_api.storage.data_store import data_store

from .databases import alias_of
from .exceptions import DataStoreReadOnly, DataStoreUnavailable, NotProvisioned
from .models import State
from .provisioning_state import Provisioned
from .routing import Store

# Seconds; an operator takes it offline for longer than a failover takes.
_RETRY_AFTER_OFFLINE = 60


def usable(store: Store, *, is_write: bool) -> str:
    """The alias of its primary database.

    Raises ConnectionUnusable, NotProvisioned, DataStoreUnavailable, DataStoreReadOnly, and Django's OperationalError if
    it does not answer.
    """
    match store.state:
        case State.PREPARING:
            raise NotProvisioned
        case State.OFFLINE:
            raise DataStoreUnavailable(_RETRY_AFTER_OFFLINE)
        case State.READ_ONLY if is_write:
            raise DataStoreReadOnly
    alias = alias_of(store.primary)
    data_store(alias).state(Provisioned)
    return alias
