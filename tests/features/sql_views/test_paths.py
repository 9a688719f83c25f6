"""Every member that the API accepts has a column, and no column is read from a member that no schema has."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.features.sql_views.bodies import ResourceBody
from edfi_api.features.sql_views.current import all_views
from edfi_api.features.sql_views.shape import FixedMember
from edfi_api.model.apischema import schemas
from edfi_api.model.surface.resource import JsonPath, Resource, ResourceName
from tests.features.sql_views.models import compiled
from tests.support.serving import LAKE_COUNTY, served

ROOT = JsonPath(())
_DESCRIPTOR_MEMBERS = {
    "namespace",
    "codeValue",
    "shortDescription",
    "description",
    "effectiveBeginDate",
    "effectiveEndDate",
}


def leaves(schema: dict[str, Any]) -> list[JsonPath]:
    """The paths of the scalars of a JSON schema."""
    return [path for path, _ in schemas.leaves(schema)]


def equal_to(path: JsonPath, resource: Resource) -> set[JsonPath]:
    """The paths whose values are always the same as those of this one, itself included."""
    found, added = {path}, {path}
    while added:
        pairs = [(rule.source, rule.target) for rule in resource.equality_constraints]
        added = {b for pair in pairs for a, b in (pair, pair[::-1]) if a in found} - found
        found |= added
    return found


@pytest.mark.parametrize(("standard", "extensions"), [("3.3.1-b", ()), ("5.2", (LAKE_COUNTY,))])
def test_columns_and_members_of_bodies_correspond(standard, extensions, monkeypatch) -> None:
    surface = served(standard, *extensions).surface
    read: dict[ResourceName, set[JsonPath]] = defaultdict(set)
    value = ResourceBody.value

    def recording(body, *arguments):
        path = value(body, *arguments)
        if path is not None:
            read[body.resource.name].add(path)
        return path

    monkeypatch.setattr(ResourceBody, "value", recording)
    numbers = {resource.name: number for number, resource in enumerate(surface.resources, start=1)}
    views = all_views(compiled(BUNDLED_STANDARDS / standard, *extensions), surface, numbers)

    entities = [each for each in surface.resources if read[each.name] or not each.is_descriptor]
    years = [each for each in entities if each.name.resource == "SchoolYearType"]
    entities = [each for each in entities if each not in years]
    unread = {
        (resource.name.resource, str(leaf))
        for resource in entities
        for leaf in leaves(resource.json_schema)
        if leaf not in read[resource.name] and not equal_to(leaf, resource) & read[resource.name]
    }
    unknown = {
        (resource.name.resource, str(path))
        for resource in entities
        for path in read[resource.name].difference(leaves(resource.json_schema))
    }
    assert unread == set()
    assert unknown == set()
    assert sum(map(len, read.values())) > 2000
    # The other resources have the same members, which the views read by name.
    others = [each for each in surface.resources if each not in entities]
    assert {tuple(leaf.steps) for each in others if each.is_descriptor for leaf in leaves(each.json_schema)} == {
        (name,) for name in _DESCRIPTOR_MEMBERS
    }
    fixed = {
        name: {column.source.name for column in view.table.columns if isinstance(column.source, FixedMember)} - {""}
        for view in views
        if view.table and (name := view.name) in ("descriptor", "schoolyeartype")
    }
    assert fixed == {
        "descriptor": _DESCRIPTOR_MEMBERS,
        "schoolyeartype": {leaf.steps[-1] for each in years for leaf in leaves(each.json_schema)},
    }
