"""The names of API clients, for rows that store their primary keys.

They are read by themselves: the rows may lie in the database of a data store, clients lie in the admin database.
"""

from cachetools import TTLCache, cached

from edfi_api.core.security.models import ApiClient

# A page lists a hundred rows of a few clients; a client is hardly ever renamed.
_SECONDS = 10
_MOST = 4096


def name_of(row_id: int | None) -> str | None:
    """The name of the client with this primary key; None without a client."""
    return None if row_id is None else _name(row_id)


@cached(TTLCache(_MOST, _SECONDS))
def _name(row_id: int) -> str | None:
    name: str | None = ApiClient.objects.filter(pk=row_id).values_list("name", flat=True).first()
    return name
