"""Surface → the collections that resources inherit: the addresses of a school are those of an education organization.

The model of the surface does not say what a resource inherits. What all subclasses of a superclass have alike is taken
for it.
"""

from dataclasses import dataclass
from typing import Any

from edfi_api.model.surface.naming import EXTENSIONS, singular
from edfi_api.model.surface.resource import Resource, ResourceName, Surface


@dataclass(frozen=True, slots=True)
class InheritedCollection:
    """Of an education organization, `Address` is the name of an item of its `addresses`."""

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
