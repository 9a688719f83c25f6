"""Resource names to the small numbers they have in the `document` table, and back into the database after migrate."""

from collections.abc import Iterable
from functools import cache

from django.db import DEFAULT_DB_ALIAS

from edfi_api.models import ResourceType
from edfi_api.surface.resource import Resource, ResourceName


def synchronise(resources: Iterable[Resource], using: str = DEFAULT_DB_ALIAS) -> None:
    """Number the resources that the database does not know yet, in order of name.

    A known one keeps its number for ever, so stored documents keep their meaning when the standard changes;
    an empty table is always numbered alike.
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
    for cached in (numbers, names):
        cached.cache_clear()


@cache
def numbers(using: str = DEFAULT_DB_ALIAS) -> dict[ResourceName, int]:
    """The number of every resource; read once per process and database."""
    rows = ResourceType.objects.using(using).all()
    return {ResourceName(row.project, row.name): row.id for row in rows}


@cache
def names(using: str = DEFAULT_DB_ALIAS) -> dict[int, ResourceName]:
    """The resource of every number."""
    return {number: name for name, number in numbers(using).items()}
