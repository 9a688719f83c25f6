"""The education organizations that claims reach, as token introspection lists them. See
meadowlark/docs/design/authorization.md#token-introspection."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import connections

from edfi_api.model.surface.resource import ResourceName, Surface
from edfi_api.storage import resource_types

# The claimed organizations and their descendants, with all ancestors of these.
_FAMILY = """
WITH reachable AS (
    SELECT DISTINCT descendant_id AS id FROM organization_closure WHERE ancestor_id = ANY (%s)
), family AS (
    SELECT DISTINCT ancestor_id AS id FROM organization_closure JOIN reachable ON reachable.id = descendant_id
)
SELECT family.id, document.resource_type_id, document.body ->> 'nameOfInstitution', document.hierarchy[2:],
       family.id IN (SELECT id FROM reachable)
FROM family JOIN document ON document.hierarchy IS NOT NULL AND document.hierarchy[1] = family.id
ORDER BY family.id
"""
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class _Organization:
    type: ResourceName
    name: str | None
    parents: tuple[int, ...]
    is_reachable: bool


def reachable_organizations(claimed: Sequence[int], surface: Surface, using: str) -> list[dict[str, object]]:
    """In order of their ids. A claimed one that is not stored yet has only its id."""
    family = _family(claimed, using)
    listed = sorted({id_ for id_, each in family.items() if each.is_reachable} | set(claimed))
    return [_described(id_, family, surface) for id_ in listed]


def undescribed_organizations(claimed: Sequence[int]) -> list[dict[str, object]]:
    """The ids of the claimed ones alone, where no database is known to have more."""
    return [{"education_organization_id": id_} for id_ in sorted(set(claimed))]


def _family(claimed: Sequence[int], using: str) -> dict[int, _Organization]:
    names = resource_types.names(using)
    with connections[using].cursor() as cursor:
        cursor.execute(_FAMILY, [list(claimed)])
        return {
            id_: _Organization(names[type_], name, tuple(parents or ()), is_reachable)
            for id_, type_, name, parents, is_reachable in cursor.fetchall()
        }


def _described(id_: int, family: dict[int, _Organization], surface: Surface) -> dict[str, object]:
    described: dict[str, object] = {"education_organization_id": id_}
    if id_ not in family:
        return described
    own = family[id_]
    described |= {"name_of_institution": own.name, "type": _type(own.type, surface)}
    for above in _upwards(id_, family):
        # The nearest of each type: a local education agency can be part of another one.
        described.setdefault(_member(family[above].type), above)
    return described


def _upwards(id_: int, family: dict[int, _Organization]) -> Iterator[int]:
    """The organization itself, then its ancestors, the nearest first."""
    waiting, seen = [id_], {id_}
    for each in waiting:
        yield each
        new = [parent for parent in family[each].parents if parent in family and parent not in seen]
        waiting += new
        seen.update(new)


def _type(name: ResourceName, surface: Surface) -> str:
    resource = surface.by_name.get(name)
    project = resource.project_endpoint if resource else name.project.lower()
    return f"{project.replace('-', '')}.{name.resource}"


def _member(name: ResourceName) -> str:
    return f"{_WORD.sub('_', name.resource).lower()}_id"
