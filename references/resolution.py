"""Details of a foreign key violation: which targets are missing.

The results only describe the error; whether there is one is decided by the foreign keys.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import connections

# The ids are one array parameter: the ORM binds each id separately, which takes longer than the query itself.
_STORED = "SELECT referential_id FROM alias WHERE referential_id = ANY (%s)"


def missing(targets: Iterable[UUID], using: str) -> set[UUID]:
    """The referential ids among `targets` that belong to no stored document."""
    wanted = set(targets)
    return wanted - stored(wanted, using) if wanted else wanted


def stored(ids: Iterable[UUID], using: str) -> set[UUID]:
    """The referential ids among `ids` that belong to a stored document."""
    with connections[using].cursor() as cursor:
        cursor.execute(_STORED, [list(ids)])
        return {found for (found,) in cursor}
