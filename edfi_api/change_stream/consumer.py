"""Who reads the stream under a name, and how far it has come: kept in the database, moved once changes are delivered.

What a consumer has not seen is not purged, so one that is no longer wanted should be removed in the admin.
"""

from typing import Self

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import QuerySet

from edfi_api.change_queries.models import ChangeConsumer
from edfi_api.change_stream.exceptions import ConsumerIsBusy

# Two numbers make a key of another kind than those of change versions. A session that ends gives its locks back,
# however it ends.
_LOCK = "SELECT pg_try_advisory_lock(change_version_lock()::integer, hashtext(%s))"
_UNLOCK = "SELECT pg_advisory_unlock(change_version_lock()::integer, hashtext(%s))"


class Consumer:
    """One reader at a time. On entering the name is locked, and made known if it is new."""

    def __init__(self, name: str, using: str = DEFAULT_DB_ALIAS) -> None:
        self.name = name
        self._using = using

    def __enter__(self) -> Self:
        """ConsumerIsBusy if another process reads under this name."""
        if not self._ask(_LOCK):
            raise ConsumerIsBusy(self.name)
        ChangeConsumer.objects.using(self._using).get_or_create(name=self.name)
        return self

    def __exit__(self, *_: object) -> None:
        if connections[self._using].is_usable():
            self._ask(_UNLOCK)

    @property
    def position(self) -> int:
        """The version up to which everything was delivered; 0 for a new consumer."""
        return int(self._row().values_list("change_version", flat=True).get())

    def move_to(self, version: int) -> None:
        """Everything up to this version is delivered."""
        self._row().update(change_version=version)

    def _row(self) -> QuerySet[ChangeConsumer]:
        return ChangeConsumer.objects.using(self._using).filter(name=self.name)

    def _ask(self, statement: str) -> bool:
        with connections[self._using].cursor() as cursor:
            return bool(cursor.execute(statement, [self.name]).fetchone()[0])
