"""Works on the changes of many data stores in one process, one after the other, again and again."""

import time
from collections.abc import Callable, Iterable

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.named import described
from edfi_api.core.data_stores.routing import Store
from edfi_api.features.changes.change_stream.exceptions import ConsumerIsBusy

# Seconds from one round to the next.
PAUSE = 5.0
# Connections that stay open between rounds.
_MOST_CONNECTIONS = 50

Work = Callable[[str], object]
Report = Callable[[str], object]


def one_round(stores: Iterable[Store], work: Work, report: Report) -> list[str]:
    """Call `work` with the alias of each data store; those that failed. One that does not answer, or whose changes
    another process is working on, does not keep the others from being worked on."""
    failed = []
    for number, store in enumerate(stores):
        try:
            using = alias_of(store.primary)
            try:
                work(using)
            finally:
                if number >= _MOST_CONNECTIONS and using != DEFAULT_DB_ALIAS:
                    connections[using].close()
        except (ConsumerIsBusy, ConnectionUnusable, DatabaseError, InterfaceError) as error:
            report(f"{described(store)}: {_reason(error)}")
            failed.append(described(store))
    return failed


def for_ever(choose: Callable[[], Iterable[Store]], work: Work, report: Report) -> None:
    """Round after round, each for the data stores that there are then. Ends only by an exception of `work`."""
    while True:
        one_round(choose(), work, report)
        time.sleep(PAUSE)


def _reason(error: Exception) -> str:
    return error.reason if isinstance(error, ConnectionUnusable) else " ".join(str(error).split())
