"""Joins of persons: the number of a person's row (USI) by the unique id in a body."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from edfi_api.analysis.sql_views import casts
from edfi_api.analysis.sql_views.bodies import IS_NUMBERED_PERSON, PEOPLE, ResourceBody
from edfi_api.documents.securables import SecurableKind


@dataclass(frozen=True, slots=True)
class Person:
    """An entity that is identified by a unique id: `kind` if it is one whose numbers are columns of `document`, else
    by the member `unique_id` of the documents of the resource type `number`."""

    kind: SecurableKind | None
    number: int = 0
    unique_id: str = ""

    @classmethod
    def of(cls, body: ResourceBody) -> Person:
        """The person that documents with these bodies are."""
        return cls(body.person, body.number, body.resource.identity[0].steps[0])

    def condition(self, alias: str, value: str) -> str:
        """Finds the person of this unique id; of the columns of `document_person` those before the person's own are
        NULL, which lets the index serve the join."""
        if self.kind is None:
            of_type = f"{alias}.resource_type_id = {self.number}"
            return f"{of_type} AND {casts.text(f'{alias}.body', (self.unique_id,))} = {value}"
        others = (f" AND {alias}.{kind} IS NULL" for kind in PEOPLE[: PEOPLE.index(self.kind)])
        return f"{IS_NUMBERED_PERSON.format(alias)}{''.join(others)} AND {alias}.{self.kind} = {value}"


@dataclass(slots=True)
class PersonJoins:
    """The joins of one view: one for each person that it refers to."""

    _aliases: dict[tuple[Person, str], str] = field(default_factory=dict)

    def usi(self, person: Person, value: str) -> str:
        """The number of the person whose unique id is the value of this expression."""
        alias = self._aliases.setdefault((person, value), f"p{len(self._aliases) + 1}")
        return f"{alias}.id::integer"

    def clauses(self) -> Iterator[str]:
        for (person, value), alias in self._aliases.items():
            yield f"LEFT JOIN public.document {alias} ON {person.condition(alias, value)}"
