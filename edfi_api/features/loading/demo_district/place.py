"""A document of the district as the documents that belong to it see it, and the row of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from edfi_api.features.loading.demo_district.calendar import SchoolYear
from edfi_api.model.examples import Scope, Sparse

# The agency to which the documents at the top belong.
DISTRICT = "District"


class Draft(NamedTuple):
    """A sparse body, and the place of a document that it refers to besides those above it."""

    sparse: Sparse
    other: PlacedDraft | None = None


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
            if place.draft.other is not None and place.draft.other.resource == resource:
                return place.draft.other
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


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_GIRLS = _names(
    "Ada Amara Beatriz Camila Chloe Daniela Elena Esther Fatima Grace Hana Imani Ines Jade Keiko Laila Lucia Mae Maya "
    "Mei Nadia Naomi Olivia Priya Rosa Ruth Sofia Tala Valeria Zoe"
)
_BOYS = _names(
    "Aaron Amir Andre Ben Carlos Dante Diego Elias Emeka Felix Gabriel Hugo Isaac Jamal Javier Kenji Leo Liam Mateo "
    "Miguel Nikhil Omar Oscar Paul Rafael Samuel Theo Tomas Victor Yusuf"
)
_LAST = _names(
    "Abbott Adeyemi Alvarez Baker Bennett Brooks Castillo Chavez Chen Cohen Cruz Davis Delgado Diaz Edwards Evans "
    "Fischer Flores Foster Garcia Gomez Gray Greene Hall Hassan Hernandez Hughes Ibrahim Jackson Jimenez Johnson Kaur "
    "Kelly Kim Kowalski Lee Lopez Martin Mendoza Meyer Miller Moore Morales Murphy Nakamura Nguyen Novak Okafor Ortiz "
    "Park Patel Perez Peterson Quinn Ramirez Reed Reyes Rivera Robinson Ruiz Sanders Santos Schmidt Shah Silva Singh "
    "Soto Stewart Suarez Tanaka Thomas Torres Tran Turner Vargas Vega Walker Ward Washington Weber Wong Young Zhang"
)
_STREETS = ("Alder Street", "Creek Road", "Finch Lane", "Hill Avenue", "Lark Street", "Meadow Road", "Orchard Way")

FEMALE, MALE = "Female", "Male"


def sex(random: Random) -> str:
    """Return the sex as the code value of the descriptor."""
    return random.choice((FEMALE, MALE))


def first_name(random: Random, sex: str) -> str:
    return random.choice(_GIRLS if sex == FEMALE else _BOYS)


def last_name(random: Random) -> str:
    return random.choice(_LAST)


def street(random: Random) -> str:
    """House number and street."""
    return f"{random.randint(1, 999)} {random.choice(_STREETS)}"
