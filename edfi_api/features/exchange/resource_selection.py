"""Which resources pass a connection: all, or a list in four ways, by the dependencies of the side that is written.

`include` takes the listed ones and all that they depend on, so that their references resolve; `exclude` leaves out the
listed ones and all that depend on them, which could not be written without them. `include-only` and `exclude-only` take
the list as it is.
"""

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

from edfi_api.model.surface.load_order import Dependencies
from edfi_api.model.surface.resource import Surface

# The path of each resource (ed-fi/students) → the paths of those that it depends on.
Targets = Mapping[str, Collection[str]]


class SelectionMode(StrEnum):
    """See the module."""

    ALL = "all"
    INCLUDE = "include"
    INCLUDE_ONLY = "include-only"
    EXCLUDE = "exclude"
    EXCLUDE_ONLY = "exclude-only"


class UnknownResources(Exception):
    """Listed resources that the side that is written does not have; the arguments say which."""


def selected(mode: SelectionMode, listed: Iterable[str], targets: Targets) -> set[str]:
    """The paths of the resources that pass, descriptors included. Raises UnknownResources."""
    by_name = {path.strip("/").casefold(): path for path in targets}
    names = [each.strip("/").casefold() for each in listed]
    if unknown := sorted(set(names) - by_name.keys()):
        raise UnknownResources(*unknown)
    named = {by_name[name] for name in names}
    match mode:
        case SelectionMode.ALL:
            return set(targets)
        case SelectionMode.INCLUDE:
            return _reached(named, targets)
        case SelectionMode.INCLUDE_ONLY:
            return named
        case SelectionMode.EXCLUDE:
            return set(targets) - _reached(named, _turned_round(targets))
    return set(targets) - named


def targets_of(surface: Surface) -> Targets:
    """The dependencies of this server, by paths such as ed-fi/students."""
    paths = {resource.name: resource.url_path.strip("/") for resource in surface.resources}
    found = {path: set[str]() for path in paths.values()}
    for name, targets in Dependencies(surface).targets.items():
        found[paths[name]] = {paths[each] for each in targets}
    return found


def _reached(named: Collection[str], targets: Targets) -> set[str]:
    found, new = set(named), set(named)
    while new:
        new = {each for path in new for each in targets.get(path, ())} - found
        found |= new
    return found


def _turned_round(targets: Targets) -> Targets:
    found: dict[str, set[str]] = {path: set() for path in targets}
    for path, those in targets.items():
        for each in those:
            found.setdefault(each, set()).add(path)
    return found
