"""What passes a connection: which resources, and their documents in the data standard of the receiver."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

from edfi_api.model.surface.load_order import Dependencies
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.resource import Surface
from references.descriptor_uri import comparable

# `include` takes the listed ones and all that they depend on, so that their references resolve; `exclude` leaves out
# the listed ones and all that depend on them, which could not be written without them. `include-only` and
# `exclude-only` take the list as it is.

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


# A URI that the mapping does not have stays as it is. URIs compare without case, as descriptors do.

_COLUMNS = 2


class NotAMapping(Exception):
    """The text has a line that is not two different URIs, or names one twice. The message says which."""


@dataclass(frozen=True)
class DescriptorMapping:
    """URIs there → URIs here, there in lower case. Several there may be one here; the first is the one to push."""

    pairs: tuple[tuple[str, str], ...] = field(default=())

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the mapping that a CSV describes. Raises NotAMapping."""
        pairs = []
        seen = set()
        for number, row in enumerate(csv.reader(text.splitlines()), start=1):
            values = [value.strip() for value in row]
            if not any(values):
                continue
            if len(values) != _COLUMNS or not all("#" in value for value in values):
                raise NotAMapping(f"Line {number} is not two URIs of descriptors.")
            if comparable(values[0]) in seen:
                raise NotAMapping(f"Line {number} has a URI that an earlier line has.")
            seen.add(comparable(values[0]))
            pairs.append((values[0], values[1]))
        return cls(tuple(pairs))

    @cached_property
    def _to_here(self) -> Mapping[str, str]:
        return {comparable(there): here for there, here in self.pairs}

    @cached_property
    def _to_there(self) -> Mapping[str, str]:
        return {comparable(here): there for there, here in reversed(self.pairs)}

    def has_there(self, uri: str) -> bool:
        """Return whether a descriptor of the remote API has another URI here: its own document does not pass."""
        return comparable(uri) in self._to_here

    def has_here(self, uri: str) -> bool:
        """Return whether a descriptor of this side has another URI there."""
        return comparable(uri) in self._to_there

    def replace_theirs(self, body: dict[str, Any]) -> None:
        """Replace the URIs of the remote API in a body, or in key values, by those of this one."""
        if self.pairs:
            _replace(body, self._to_here)

    def replace_ours(self, body: dict[str, Any]) -> None:
        """Replace the URIs of this API in a body, or in key values, by those of the remote API."""
        if self.pairs:
            _replace(body, self._to_there)


def _replace(value: Any, uris: Mapping[str, str]) -> None:
    """Replace URIs in all members with names of descriptors, at any depth."""
    items = value.values() if isinstance(value, dict) else value
    for each in items:
        if isinstance(each, dict | list):
            _replace(each, uris)
    if isinstance(value, dict):
        for name, each in value.items():
            if isinstance(each, str) and is_descriptor_name(name) and (other := uris.get(comparable(each))):
                value[name] = other
