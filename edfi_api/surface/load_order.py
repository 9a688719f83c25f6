"""The order in which documents can be loaded: what is referred to stands before what refers to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from edfi_api.surface.resource import AbstractResource, Resource, ResourceName

_Edges = dict[ResourceName, set[ResourceName]]


def load_batches(
    resources: Iterable[Resource], abstract_resources: Iterable[AbstractResource]
) -> tuple[tuple[Resource, ...], ...]:
    """Groups of resources, each needing only earlier groups; alphabetical by URL path inside a group.

    Source: Ed-Fi's dependency metadata. A reference to an abstract resource, or to a superclass, needs all subclasses.
    Where references form a circle, the optional ones in it are disregarded.
    """
    by_name = {resource.name: resource for resource in resources}
    subclasses = _subclasses(by_name.values(), abstract_resources)
    required = _edges(by_name, subclasses, only_required=True)
    waiting_for = _without_circles(_edges(by_name, subclasses, only_required=False), required)
    batches = []
    while waiting_for:
        ready = [name for name, targets in waiting_for.items() if not targets & waiting_for.keys()]
        batches.append(tuple(sorted((by_name[name] for name in ready), key=lambda resource: resource.url_path)))
        for name in ready:
            del waiting_for[name]
    return tuple(batches)


def in_load_order(resources: Iterable[Resource], abstract: Iterable[AbstractResource]) -> tuple[Resource, ...]:
    """All resources, batch after batch."""
    return tuple(resource for batch in load_batches(resources, abstract) for resource in batch)


def _subclasses(
    resources: Iterable[Resource], abstract_resources: Iterable[AbstractResource]
) -> Mapping[ResourceName, set[ResourceName]]:
    found = {abstract.name: set(abstract.subclasses) for abstract in abstract_resources}
    for resource in resources:
        if resource.superclass is not None:
            found.setdefault(resource.superclass.name, set()).add(resource.name)
    return found


def _edges(
    resources: Mapping[ResourceName, Resource],
    subclasses: Mapping[ResourceName, set[ResourceName]],
    *,
    only_required: bool,
) -> _Edges:
    """For each resource the others that it refers to."""
    return {
        name: {
            concrete
            for target in _targets(resource, only_required=only_required)
            for concrete in (target, *subclasses.get(target, ()))
            if concrete in resources and concrete != name
        }
        for name, resource in resources.items()
    }


def _targets(resource: Resource, *, only_required: bool) -> Iterator[ResourceName]:
    for reference in resource.references:
        if reference.is_required or not only_required:
            yield reference.target
    for descriptor in resource.descriptors:
        if descriptor.is_required or not only_required:
            yield descriptor.target


def _without_circles(edges: _Edges, required: _Edges) -> _Edges:
    """First the optional edges inside each circle go; where required ones form a circle still, they go too: documents
    of a superclass can require one another without a circle among the documents."""
    for kept_inside in (required, {name: set[ResourceName]() for name in edges}):
        for circle in _circles(edges):
            for name in circle:
                edges = {**edges, name: (edges[name] - circle) | (edges[name] & circle & kept_inside[name])}
    return edges


def _circles(edges: _Edges) -> Iterator[set[ResourceName]]:
    """The strongly connected groups of more than one resource."""
    reachable = {name: _reachable(name, edges) for name in edges}
    seen: set[ResourceName] = set()
    for name in edges:
        circle = {other for other in reachable[name] if name in reachable[other]}
        if name not in seen and len(circle) > 1:
            yield circle
        seen |= circle


def _reachable(start: ResourceName, edges: _Edges) -> set[ResourceName]:
    found: set[ResourceName] = set()
    open_ends = [start]
    while open_ends:
        new = edges[open_ends.pop()] - found
        found |= new
        open_ends.extend(new)
    return found
