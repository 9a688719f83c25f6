"""Filters → conditions on stored bodies: an example document that matching bodies contain.

Containment (`@>`) is the operator that the GIN index over the bodies supports. It compares exactly, so a descriptor
filter is first brought into the letter case of the stored descriptor, which stored bodies have too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from edfi_api.documents import json_text
from edfi_api.documents.extraction import descriptor_id
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource, ResourceName
from edfi_api.queries.collection import Selection
from edfi_api.queries.parameters import Filter
from edfi_api.storage.descriptor_casing import stored_uris
from edfi_api.storage.driver.sql import Sql
from edfi_api.storage.row_policy import Predicate

ID_FIELD = "id"


def narrow(selection: Selection, resource: Resource, filters: Iterable[Filter]) -> Selection:
    """The selection narrowed to documents that match every filter. A field with several paths matches at any."""
    descriptors = {entry.path: entry.target for entry in (*resource.descriptors, *resource.key_descriptors)}
    for number, filter_ in enumerate(filters):
        if filter_.field.name == ID_FIELD:
            selection = selection.where(_has_id(filter_.value, selection))
        else:
            condition = _has_value(filter_, f"filter_{number}", descriptors, selection)
            finds_few = _rare_paths(resource).issuperset(filter_.field.paths)
            selection = selection.where(replace(condition, finds_few=finds_few))
    return selection


def _rare_paths(resource: Resource) -> frozenset[JsonPath]:
    """Paths whose values occur in few documents each: ids of people, and the key of a single-key resource."""
    elements = resource.securable_elements
    people = (*elements.student, *elements.contact, *elements.staff)
    return frozenset([*people, *(resource.identity if len(resource.identity) == 1 else ())])


def _has_value(
    filter_: Filter, name: str, descriptors: Mapping[JsonPath, ResourceName], selection: Selection
) -> Predicate:
    """Parameters are `filter_0_0`, and `filter_0_0_scoped` for the index, whose keys include the resource type."""
    plain, indexed = [], []
    for number, path in enumerate(filter_.field.paths):
        parameter = f"{name}_{number}"
        value = _stored_value(path, filter_.value, descriptors, selection.using)
        scoped = _json({str(selection.resource_type): example(path, value)})
        plain.append(Sql(f"d.body @> %({parameter})s::jsonb", {parameter: _json(example(path, value))}))
        indexed.append(
            Sql(
                f"scoped_body(d.resource_type_id, d.body) @> %({parameter}_scoped)s::jsonb",
                {f"{parameter}_scoped": scoped},
            )
        )
    return Predicate("(" + Sql.join(" OR ", plain) + ")", "(" + Sql.join(" OR ", indexed) + ")")


def _stored_value(path: JsonPath, value: Any, descriptors: Mapping[JsonPath, ResourceName], using: str) -> Any:
    if path not in descriptors:
        return value
    id_ = descriptor_id(descriptors[path], value)
    return stored_uris([id_], using).get(id_, value)


def _has_id(text: str, selection: Selection) -> Predicate:
    try:
        asked: UUID | None = UUID(text)
    except ValueError:
        asked = None  # equal to nothing
    has_id = Sql("d.document_uuid = %(id)s::uuid AND d.resource_type_id = %(type)s", {"id": asked})
    return Predicate(has_id, has_id, finds_few=True)


def example(path: JsonPath, value: Any) -> Any:
    """The smallest body with this value at this path: `{"schoolReference": {"schoolId": 122}}`."""
    for step in reversed(path.steps):
        value = [value] if step == ALL_ITEMS else {step: value}
    return value


def _json(value: Any) -> str:
    return json_text.dumps(value).decode()
