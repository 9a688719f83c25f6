"""The `resource_type` table: resource names and the small numbers that represent them in `document`."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from edfi_api.core.models import ResourceType
from edfi_api.core.storage.database_state import database_state
from edfi_api.model.surface.resource import Resource, ResourceName

_MOST_NUMBERINGS = 16


def synchronize(resources: Iterable[Resource], using: str) -> None:
    """Add the resources that the table does not have yet, numbered in order of name, and store the paths of their keys.

    A number never changes its meaning, so stored documents stay valid when the data standard changes. The numbering of
    an empty table is deterministic.
    """
    table = ResourceType.objects.using(using)
    known = {(row.project, row.name): row for row in table.all()}
    highest = max((row.id for row in known.values()), default=0)
    ordered = sorted(resources, key=lambda resource: (resource.name.project, resource.name.resource))
    missing = [resource for resource in ordered if (resource.name.project, resource.name.resource) not in known]
    table.bulk_create(
        ResourceType(
            id=number,
            project=resource.name.project,
            name=resource.name.resource,
            endpoint=resource.endpoint,
            key_paths=_key_paths(resource),
        )
        for number, resource in enumerate(missing, start=highest + 1)
    )
    table.bulk_update(_with_other_keys(ordered, known), ["key_paths"])
    database_state(using).drop(_Rows)


def _with_other_keys(
    resources: Iterable[Resource], known: Mapping[tuple[str, str], ResourceType]
) -> Iterator[ResourceType]:
    """The rows of resources that have other keys in the surface, with these."""
    for resource in resources:
        row = known.get((resource.name.project, resource.name.resource))
        if row is not None and row.key_paths != (key_paths := _key_paths(resource)):
            row.key_paths = key_paths
            yield row


def _key_paths(resource: Resource) -> list[str] | None:
    return None if resource.is_descriptor else sorted(path.without_root() for path in resource.identity)


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
