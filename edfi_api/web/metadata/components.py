"""JSON schema of a resource → schemas of an OpenAPI document, with a component for each object.

The names are those of Ed-Fi's own documents, since generated clients derive class names from them and loaders look them
up: `edFi_student`, `edFi_studentAddress`, `edFi_schoolReference`. See
meadowlark/docs/reference/contract.md#discovery-and-metadata.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.model.surface.json_schema import schema_at
from edfi_api.model.surface.naming import EXTENSIONS, REFERENCE_SUFFIX, extension_key, lower_camel, singular
from edfi_api.model.surface.ods_names import in_served_names
from edfi_api.model.surface.resource import ALL_ITEMS, Resource, ResourceName, Surface

Schema = dict[str, Any]
_Steps = tuple[str, ...]

IDENTITY = {"x-Ed-Fi-isIdentity": True}
# The keyword of OpenAPI 3.0, and that of 2.0, which Ed-Fi's own documents have.
NULLABLE = {"nullable": True, "x-nullable": True}

LINK = "link"
_EXTENSIONS_SUFFIX = "Extensions"
# Patterns are omitted: Ed-Fi's documents have none, and regular expressions differ between clients.
_SCALAR_KEYWORDS = ("type", "format", "minLength", "maxLength", "minimum", "maximum")
# The id is not read-only, since the body of a PUT has it.
_ID: Schema = {
    "type": "string",
    "description": "The identifier that the server gave the item. A PUT has the one of its URL, a POST has none.",
}
ADDED_BY_SERVER: Schema = {
    "_etag": {"type": "string", "readOnly": True, "description": "The version of the item."},
    "_lastModifiedDate": {
        "type": "string",
        "format": "date-time",
        "readOnly": True,
        "description": "When the item was last changed.",
    },
}
_LINK_SCHEMA: Schema = {
    "type": "object",
    "readOnly": True,
    "properties": {
        "rel": {"type": "string", "description": "The name of the resource that is referred to."},
        "href": {"type": "string", "description": "Where the item is, below the address of the data."},
    },
}

_TRACKED_ID: Schema = {"type": "string", "description": "The identifier that the server gave the item."}
_CHANGE_VERSION: Schema = {
    "type": "integer",
    "format": "int64",
    "description": "The version of the change; one sequence numbers all changes of all items.",
}


def schema_reference(component: str) -> Schema:
    """A `$ref` to a schema component."""
    return {"$ref": f"#/components/schemas/{component}"}


def scalar_schema(schema: Schema) -> Schema:
    """The OpenAPI schema of a scalar."""
    default = {"format": "double"} if schema["type"] == "number" else {}
    return default | {keyword: schema[keyword] for keyword in _SCALAR_KEYWORDS if keyword in schema}


def resource_deprecation(reason: str | None) -> Schema:
    """The members that mark a deprecated resource."""
    if reason is None:
        return {}
    return {"deprecated": True, "x-Ed-Fi-isDeprecated": True, "x-Ed-Fi-deprecatedReasons": reason}


def property_deprecation(schema: Schema) -> Schema:
    """The members that mark a deprecated property; JSON schema has no reason for it."""
    return {"deprecated": True, "x-Ed-Fi-isDeprecated": True} if schema.get("deprecated") else {}


class ComponentNames:
    """The names of components; the part before the underscore is the project."""

    def __init__(self, surface: Surface) -> None:
        self._prefixes = {project.name: _camel_case(project.endpoint) for project in surface.projects}
        self._prefixes_by_key = {extension_key(name): prefix for name, prefix in self._prefixes.items()}
        self.url_paths = {resource.name: resource.served_path for resource in surface.resources}
        served = replace(surface, resources=tuple(map(in_served_names, surface.resources)))
        self._inherited = inherited_collections(served) if OdsCompatibility.OPENAPI.applies else {}

    def of_resource(self, name: ResourceName) -> str:
        return f"{self._prefixes[name.project]}_{lower_camel(name.resource)}"

    def of_reference(self, target: ResourceName) -> str:
        return self.of_resource(target) + REFERENCE_SUFFIX

    def of_extension(self, component: str, key: str) -> str:
        """`edFi_school`, extended by `tpdm`, → `tpdm_schoolExtension`."""
        return f"{self._prefixes_by_key[key]}_{component.partition('_')[2]}Extension"

    def of_item(self, resource: ResourceName, component: str, steps: _Steps) -> str:
        """The name for items of the collection at these steps. As by the ODS/API, if so wanted, those of an inherited
        collection have one name in all subclasses, that of the superclass in front."""
        inherited = self._inherited.get(resource, {}).get(steps)
        if inherited is None:
            return component + capitalised(singular(steps[-1]))
        return self.of_resource(inherited.superclass) + inherited.item


def schemas(resources: Iterable[Resource], names: ComponentNames) -> dict[str, Schema]:
    """The components of these resources, sorted by name."""
    resources = tuple(resources)
    found: dict[str, Schema] = {names.of_resource(resource.name): {} for resource in resources}
    found[LINK] = _LINK_SCHEMA
    for resource in resources:
        found[names.of_resource(resource.name)] = _Walk(resource, names, found).document()
    return dict(sorted(found.items()))


class _Walk:
    """Builds the components of one resource; those of nested objects are added to `found`."""

    def __init__(self, resource: Resource, names: ComponentNames, found: dict[str, Schema]) -> None:
        self._resource = resource
        self._names = names
        self._found = found
        self._references = {reference.path.steps: reference for reference in resource.references}
        self._identity = _identity_steps(resource)
        paths = (*resource.descriptors, *resource.key_descriptors)
        self._descriptors = {descriptor.path.steps: descriptor.target for descriptor in paths}

    def document(self) -> Schema:
        schema = self._object(self._names.of_resource(self._resource.name), self._resource.json_schema, ())
        schema["properties"] = {"id": _ID, **schema["properties"], **ADDED_BY_SERVER}
        return schema | resource_deprecation(self._resource.deprecated)

    def _object(self, component: str, schema: Schema, steps: _Steps) -> Schema:
        required = schema.get("required", [])
        properties = {
            name: self._property(component, (*steps, name), member, is_required=name in required)
            for name, member in schema["properties"].items()
        }
        return {"type": "object", **_described(schema), **_required(required), "properties": properties}

    def _property(self, component: str, steps: _Steps, schema: Schema, *, is_required: bool) -> Schema:
        # OpenAPI 3.0 ignores everything next to a `$ref`, and loaders follow no `allOf`.
        if steps in self._references:
            return self._reference(component, steps, schema)
        if schema["type"] == "object":
            return self._child(component, steps, schema)
        marks = {**(IDENTITY if steps in self._identity else {}), **property_deprecation(schema)}
        if schema["type"] == "array":
            items = self._item(component, steps, schema["items"])
            return {"type": "array", **_described(schema), **_min_items(schema), "items": items, **marks}
        nullable = {} if is_required else NULLABLE
        return {**scalar_schema(schema), **self._described_value(steps, schema), **nullable, **marks}

    def _described_value(self, steps: _Steps, schema: Schema) -> Schema:
        """The description, and for a descriptor the path of its values."""
        described, target = _described(schema), self._descriptors.get(steps)
        if target is None:
            return described
        path = self._names.url_paths[target]
        text = f"{described.get('description', '')} One of {path}.".lstrip()
        return {"description": text, "x-Ed-Fi-descriptor": path}

    def _item(self, component: str, steps: _Steps, schema: Schema) -> Schema:
        name = self._names.of_item(self._resource.name, component, steps)
        return self._add(name, component, steps, self._object(name, schema, (*steps, ALL_ITEMS)))

    def _child(self, component: str, steps: _Steps, schema: Schema) -> Schema:
        name = self._child_name(component, steps)
        return self._add(name, component, steps, self._object(name, schema, steps))

    def _child_name(self, component: str, steps: _Steps) -> str:
        match steps:
            case [*_, member] if member == EXTENSIONS:
                return component + _EXTENSIONS_SUFFIX
            case [*_, container, key] if container == EXTENSIONS:
                return self._names.of_extension(component.removesuffix(_EXTENSIONS_SUFFIX), key)
        return component + capitalised(steps[-1])

    def _reference(self, component: str, steps: _Steps, schema: Schema) -> Schema:
        """All references to a target share a component, so it does not describe the role of a single one."""
        values = {
            name: {
                **scalar_schema(value),
                **self._described_value((*steps, name), value),
                **IDENTITY,
                **property_deprecation(value),
            }
            for name, value in schema["properties"].items()
        }
        made = {
            "type": "object",
            **_required(schema.get("required", [])),
            "properties": {**values, LINK: schema_reference(LINK)},
        }
        return self._add(self._names.of_reference(self._references[steps].target), component, steps, made)

    def _add(self, name: str, component: str, steps: _Steps, schema: Schema) -> Schema:
        """Add a schema under a name of its own. In an extension another schema may have the name already; then a second
        underscore makes it unique, since no other name has two.
        """
        if self._found.get(name, schema) != schema:
            name = f"{component}_{steps[-1]}"
        self._found[name] = schema
        return schema_reference(name)


def _identity_steps(resource: Resource) -> frozenset[_Steps]:
    """The paths of values that identify a document, or an item within its collection."""
    ways: list[tuple[_Steps, _Steps]] = [((), path.steps) for path in resource.identity]
    for unique in resource.array_uniqueness:
        ways += (((*unique.array.steps, ALL_ITEMS), path.steps) for path in unique.item_paths)
    return frozenset((*start, *steps[:length]) for start, steps in ways for length in range(1, len(steps) + 1))


def _described(schema: Schema) -> Schema:
    return {"description": schema["description"]} if schema.get("description") else {}


def _required(names: Iterable[str]) -> Schema:
    return {"required": sorted(names)} if names else {}


def _min_items(schema: Schema) -> Schema:
    return {"minItems": schema["minItems"]} if schema.get("minItems") else {}


def _camel_case(endpoint: str) -> str:
    """`ed-fi` → `edFi`."""
    first, *others = endpoint.lower().split("-")
    return first + "".join(word.capitalize() for word in others)


@dataclass(frozen=True, slots=True)
class InheritedCollection:
    """Return the name of an item: that of the `addresses` of an education organization is `Address`."""

    superclass: ResourceName
    item: str


def inherited_collections(surface: Surface) -> dict[ResourceName, dict[tuple[str, ...], InheritedCollection]]:
    """Map resource and steps to the collections that it inherits. One to whose items an extension adds something in
    this resource, and not in most others, is its own.
    """
    found: dict[ResourceName, dict[tuple[str, ...], InheritedCollection]] = {}
    for abstract in surface.abstract_resources:
        subclasses = [surface.by_name[name] for name in abstract.subclasses if name in surface.by_name]
        collections = {each.name: _collections(each, abstract.name.resource) for each in subclasses}
        shared = _shared(list(collections.values()))
        for resource, by_item in collections.items():
            found[resource] = {
                (member,): InheritedCollection(abstract.name, item)
                for item, (member, schema) in by_item.items()
                if shared.get(item) == schema
            }
    return found


def capitalised(word: str) -> str:
    """The word with its first letter in upper case."""
    return word[:1].upper() + word[1:]


def _collections(resource: Resource, superclass: str) -> dict[str, tuple[str, Any]]:
    """The member and the schema of each collection, by the name of an item. Subclasses may leave the name of the
    superclass out: `categories` of a district are `educationOrganizationCategories` of a school."""
    members = resource.json_schema.get("properties", {})
    collections = {name: schema["items"] for name, schema in members.items() if schema.get("type") == "array"}
    return {capitalised(singular(name)).removeprefix(superclass): (name, items) for name, items in collections.items()}


def _shared(of_subclasses: list[dict[str, tuple[str, Any]]]) -> dict[str, Any]:
    """Map the name of an item to the schema that most subclasses have; of collections that all of several have, alike
    but for extensions.
    """
    shared = {}
    if len(of_subclasses) > 1:
        for item in of_subclasses[0]:
            schemas = [collections[item][1] for collections in of_subclasses if item in collections]
            without = [_without_extensions(schema) for schema in schemas]
            if without.count(without[0]) == len(of_subclasses):
                shared[item] = max(schemas, key=schemas.count)
    return shared


def _without_extensions(schema: Any) -> Any:
    match schema:
        case dict():
            return {name: _without_extensions(each) for name, each in schema.items() if name != EXTENSIONS}
        case list():
            return [_without_extensions(each) for each in schema]
    return schema


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
    return {"type": "object", "properties": {"id": _TRACKED_ID, "changeVersion": _CHANGE_VERSION, **key_values}}
