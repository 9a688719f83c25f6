"""The OpenAPI schemas of a resource's deletes and key changes.

The names are those of Ed-Fi's older official server, on which generated clients depend. See
meadowlark/docs/reference/contract.md#change-queries.
"""

from collections.abc import Iterable

from edfi_api.model.surface.json_schema import schema_at
from edfi_api.model.surface.resource import Resource
from edfi_api.web.metadata.components import (
    IDENTITY,
    ComponentNames,
    Schema,
    scalar_schema,
    schema_reference,
)

_ID: Schema = {"type": "string", "description": "The identifier that the server gave the item."}
_CHANGE_VERSION: Schema = {
    "type": "integer",
    "format": "int64",
    "description": "The version of the change; one sequence numbers all changes of all items.",
}


class TrackedNames:
    """The names of components of one resource."""

    def __init__(self, names: ComponentNames, resource: Resource) -> None:
        component = f"trackedChanges_{names.of_resource(resource.name)}"
        self.key = f"{component}Key"
        self.delete = f"{component}Delete"
        self.key_change = f"{component}KeyChange"


def tracked_schemas(resources: Iterable[Resource], names: ComponentNames) -> dict[str, Schema]:
    """The components of these resources' changes."""
    found: dict[str, Schema] = {}
    for resource in resources:
        tracked = TrackedNames(names, resource)
        key = schema_reference(tracked.key)
        found[tracked.key] = {"type": "object", "properties": _key_properties(resource)}
        found[tracked.delete] = _change(keyValues=key)
        found[tracked.key_change] = _change(oldKeyValues=key, newKeyValues=key)
    return found


def _key_properties(resource: Resource) -> dict[str, Schema]:
    schemas = {field.name: schema_at(resource.json_schema, path) for field, path in resource.key_fields}
    return {
        name: {**scalar_schema(schema), "description": schema.get("description", ""), **IDENTITY}
        for name, schema in schemas.items()
    }


def _change(**key_values: Schema) -> Schema:
    return {"type": "object", "properties": {"id": _ID, "changeVersion": _CHANGE_VERSION, **key_values}}
