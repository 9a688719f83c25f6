"""The descriptor mapping of a connection: CSV of URIs there and here → bodies with the URIs of the remote API.

A URI that the mapping does not have stays as it is. URIs compare without case, as descriptors do.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from edfi_api.model.surface.naming import is_descriptor_name
from references.descriptor_uri import comparable

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
        """Whether a descriptor of the remote API has another URI here: its own document does not pass."""
        return comparable(uri) in self._to_here

    def has_here(self, uri: str) -> bool:
        """Whether a descriptor of this side has another URI there."""
        return comparable(uri) in self._to_there

    def to_here(self, body: dict[str, Any]) -> None:
        """Replace the URIs of the remote API in a body, or in key values, by those of this one."""
        if self.pairs:
            _replace(body, self._to_here)

    def to_there(self, body: dict[str, Any]) -> None:
        """The other way round."""
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
