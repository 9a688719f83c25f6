"""A document of the district as the documents that belong to it see it, and the row of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from edfi_api.features.loading.demo_district.calendar import SchoolYear
from edfi_api.model.examples import Scope, Sparse

# What the documents at the top belong to.
DISTRICT = "District"


class Draft(NamedTuple):
    """A sparse body, and the place of a document that it refers to besides those above it."""

    sparse: Sparse
    beside: PlacedDraft | None = None


@dataclass(eq=False)
class PlacedDraft:
    """A document: its draft, its scope, and the documents above and below it.

    `number` counts the documents of a resource in the district, from 1.
    """

    resource: str
    number: int
    draft: Draft
    scope: Scope
    random: Random
    year: SchoolYear
    parent: PlacedDraft | None = None
    _below: dict[str, list[PlacedDraft]] = field(default_factory=dict)

    @property
    def sparse(self) -> Sparse:
        return self.draft.sparse

    def above(self, resource: str) -> PlacedDraft:
        """The document of this resource to which this one belongs, or to which one of those refers. Raises LookupError
        if there is none."""
        for place in self._upwards():
            if place.resource == resource:
                return place
            if place.draft.beside is not None and place.draft.beside.resource == resource:
                return place.draft.beside
        raise LookupError(f"{self.resource} belongs to no {resource}")

    def below(self, resource: str) -> list[PlacedDraft]:
        """The documents of this resource that belong to this one."""
        return self._below.get(resource, [])

    def add(self, resource: str, number: int, draft: Draft, scope: Scope) -> PlacedDraft:
        """A document that belongs to this one, and so to those above."""
        added = PlacedDraft(resource, number, draft, scope, self.random, self.year, self)
        for place in self._upwards():
            place._below.setdefault(resource, []).append(added)
        return added

    def _upwards(self) -> Iterator[PlacedDraft]:
        place: PlacedDraft | None = self
        while place is not None:
            yield place
            place = place.parent


class DraftRow(NamedTuple):
    """A row of the table: documents of a resource for each document of another one.

    `older_name` is that of the resource in older standards, unless it `is_of_newer_standards`.
    """

    resource: str
    per: str
    drafts: Callable[[PlacedDraft], Iterator[Draft]]
    older_name: str = ""
    is_of_newer_standards: bool = False
