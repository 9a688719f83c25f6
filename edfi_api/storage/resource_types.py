"""The `resource_type` table: resource names and the small numbers that represent them in `document`."""

from collections.abc import Iterable
from functools import lru_cache

from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.models import ResourceType
from edfi_api.storage.database_state import database_state

_MOST_NUMBERINGS = 16


def synchronise(resources: Iterable[Resource], using: str) -> None:
    """Add the resources that the table does not have yet, numbered in order of name.

    Existing rows never change, so stored documents stay valid when the data standard changes. The numbering of an empty
    table is deterministic.
    """
    table = ResourceType.objects.using(using)
    known = {(row.project, row.name): row for row in table.all()}
    highest = max((row.id for row in known.values()), default=0)
    ordered = sorted(resources, key=lambda resource: (resource.name.project, resource.name.resource))
    missing = [resource for resource in ordered if (resource.name.project, resource.name.resource) not in known]
    table.bulk_create(
        ResourceType(id=number, project=resource.name.project, name=resource.name.resource, endpoint=resource.endpoint)
        for number, resource in enumerate(missing, start=highest + 1)
    )
    database_state(using).drop(_Rows)


def numbers(using: str) -> dict[ResourceName, int]:
    """Resource name → number; read once per process and database."""
    return database_state(using).value(_Rows).numbers


def names(using: str) -> dict[int, ResourceName]:
    """Number → resource name."""
    return database_state(using).value(_Rows).names


class _Rows:
    """The table, read from a database."""

    def __init__(self, using: str) -> None:
        rows = ResourceType.objects.using(using).order_by("id").values_list("project", "name", "id")
        self.numbers, self.names = _numbering(tuple(rows))


@lru_cache(_MOST_NUMBERINGS)
def _numbering(rows: tuple[tuple[str, str, int], ...]) -> tuple[dict[ResourceName, int], dict[int, ResourceName]]:
    """Databases with the same numbering share the dictionaries: a process may use thousands."""
    numbers = {ResourceName(project, name): number for project, name, number in rows}
    return numbers, {number: name for name, number in numbers.items()}
