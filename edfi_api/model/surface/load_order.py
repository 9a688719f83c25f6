"""The order in which documents can be loaded: reference targets before their referrers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from edfi_api.model.surface.resource import AbstractResource, Resource, ResourceName

# Maps each resource to the others that must precede it.
Targets = Mapping[ResourceName, Set[ResourceName]]


def load_batches(
    resources: Iterable[Resource], abstract_resources: Iterable[AbstractResource]
) -> tuple[tuple[Resource, ...], ...]:
    """Groups of resources, each needing only earlier groups; alphabetical by URL path inside a group.

    Source: Ed-Fi's dependency metadata. A reference to an abstract resource, or to a superclass, needs all subclasses.
    Where references form a cycle, the optional ones in it are ignored.
    """
    by_name = {resource.name: resource for resource in resources}
    required, all_targets = (targets_of(by_name, abstract_resources, only_required=only) for only in (True, False))
    return batches(by_name, without_circles(all_targets, required))


def batches(resources: Mapping[ResourceName, Resource], targets: Targets) -> tuple[tuple[Resource, ...], ...]:
    """Groups of resources, each depending only on earlier groups; `targets` has no cycles."""
    waiting_for = dict(targets)
    found = []
    while waiting_for:
        ready = [name for name, others in waiting_for.items() if not others & waiting_for.keys()]
        found.append(tuple(sorted((resources[name] for name in ready), key=lambda resource: resource.url_path)))
        for name in ready:
            del waiting_for[name]
    return tuple(found)


def in_load_order(resources: Iterable[Resource], abstract: Iterable[AbstractResource]) -> tuple[Resource, ...]:
    """All resources, batch after batch."""
    return tuple(resource for batch in load_batches(resources, abstract) for resource in batch)


def targets_of(
    resources: Mapping[ResourceName, Resource],
    abstract_resources: Iterable[AbstractResource],
    *,
    only_required: bool,
) -> Targets:
    """The targets of each resource, including all subclasses of a superclass; there can be cycles."""
    subclasses = _subclasses(resources.values(), abstract_resources)
    return {
        name: {
            concrete
            for target in _targets(resource, only_required=only_required)
            for concrete in (target, *subclasses.get(target, ()))
            if concrete in resources and concrete != name
        }
        for name, resource in resources.items()
    }


def _subclasses(
    resources: Iterable[Resource], abstract_resources: Iterable[AbstractResource]
) -> Mapping[ResourceName, set[ResourceName]]:
    found = {abstract.name: set(abstract.subclasses) for abstract in abstract_resources}
    for resource in resources:
        if resource.superclass is not None:
            found.setdefault(resource.superclass.name, set()).add(resource.name)
    return found


def _targets(resource: Resource, *, only_required: bool) -> Iterator[ResourceName]:
    for reference in resource.references:
        if reference.is_required or not only_required:
            yield reference.target
    for descriptor in resource.descriptors:
        if descriptor.is_required or not only_required:
            yield descriptor.target


def without_circles(targets: Targets, required: Targets) -> Targets:
    """Removes first the optional edges inside each cycle, then the required ones if they still form a cycle: subclasses
    can require their superclass without a cycle among the documents."""
    for kept_inside in (required, {name: set[ResourceName]() for name in targets}):
        for circle in _circles(targets):
            for name in circle:
                targets = {**targets, name: (targets[name] - circle) | (targets[name] & circle & kept_inside[name])}
    return targets


def _circles(targets: Targets) -> Iterator[set[ResourceName]]:
    """The strongly connected groups of more than one resource."""
    reachable = {name: _reachable(name, targets) for name in targets}
    seen: set[ResourceName] = set()
    for name in targets:
        circle = {other for other in reachable[name] if name in reachable[other]}
        if name not in seen and len(circle) > 1:
            yield circle
        seen |= circle


def _reachable(start: ResourceName, targets: Targets) -> set[ResourceName]:
    found: set[ResourceName] = set()
    open_ends = [start]
    while open_ends:
        new = targets[open_ends.pop()] - found
        found |= new
        open_ends.extend(new)
    return found
