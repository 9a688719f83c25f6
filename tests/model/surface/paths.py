"""The paths in the facts about a resource."""

from collections.abc import Iterator

from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource, ResourceName, Surface
from tests.model.surface.models import texts


def paths_of(resource: Resource) -> Iterator[JsonPath]:
    """All paths in the facts about the resource."""
    yield from resource.identity
    for reference in resource.references:
        yield reference.path
        yield from (pair.here for pair in reference.identity)
    yield from (descriptor.path for descriptor in resource.descriptors)
    yield from (path for pair in resource.equality_constraints for path in (pair.source, pair.target))
    for unique in resource.array_uniqueness:
        yield from (JsonPath((*unique.array.steps, ALL_ITEMS, *item.steps)) for item in unique.item_paths)
    yield from (path for field in resource.query_fields if field.name != "id" for path in field.paths)
    yield from (limit.path for limit in resource.decimals)
    values, secured = resource.value_paths, resource.securable_elements
    yield from (*values.booleans, *values.numbers, *values.dates, *values.date_times)
    yield from (*secured.namespace, *secured.student, *secured.contact, *secured.staff)
    yield from (element.path for element in secured.education_organization)


def identity_of(surface: Surface, name: ResourceName) -> set[JsonPath]:
    """The identity paths of a concrete or abstract resource."""
    abstract = {resource.name: resource for resource in surface.abstract_resources}
    return set((abstract.get(name) or surface.by_name[name]).identity)


def item_keys(resource: Resource) -> dict[str, list[str]]:
    """The paths within an item whose values make it unique, by the path of the array."""
    return {str(unique.array): texts(unique.item_paths) for unique in resource.array_uniqueness}


def equal_paths(resource: Resource) -> set[frozenset[str]]:
    """The pairs of paths with equal values, as sets, since the direction is irrelevant."""
    return {frozenset((str(pair.source), str(pair.target))) for pair in resource.equality_constraints}


def query_fields(resource: Resource) -> dict[str, list[str]]:
    """The paths of each query field by its name."""
    return {field.name: texts(field.paths) for field in resource.query_fields}


def path(text: str) -> JsonPath:
    """The path with this text."""
    return JsonPath.parse(text)
