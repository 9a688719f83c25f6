"""Client, resource, action → the guard over rows: the strategies of the client's claim set, put together.

All strategies must allow, but of those that look at relationships one is enough. Their SQL is the same for all
clients of a resource, so that statements stay prepared; what a client claims are parameters. See
meadowlark/docs/authorization.md#strategies.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from edfi_api.documents import resource_types
from edfi_api.documents.guards import NEW, PROPOSED, STORED, Candidates, Condition, Guard, Values
from edfi_api.documents.securables import SecurableKind, groups
from edfi_api.surface.resource import JsonPath, Resource, ResourceName
from edfi_api.surface.securable import AUTHORIZATION_PATHWAYS

from .actions import Action
from .claims import strategies
from .exceptions import (
    ElementRequired,
    ElementUninitialized,
    NoNamespacePrefixes,
    NoRelationship,
    StrategyNotApplicable,
    UnknownStrategies,
)
from .strategies.namespace import NAMESPACE_BASED, NamespaceBased
from .strategies.ownership import OWNERSHIP_BASED, OwnershipBased
from .strategies.relationships import REACHES, Pathway, Relationship, RelationshipFailure
from .strategies.strategy import Strategy
from .tokens import AuthenticatedClient

NO_FURTHER_AUTHORIZATION_REQUIRED = "NoFurtherAuthorizationRequired"

CORE_PROJECT = "Ed-Fi"
_INCLUDING_DELETES = "IncludingDeletes"
# Beside those that include deletes, which serve nothing else. See
# meadowlark/docs/authorization.md#deletes-and-key-changes.
_FOR_CHANGES = {
    NO_FURTHER_AUTHORIZATION_REQUIRED,
    NAMESPACE_BASED,
    "RelationshipsWithEdOrgsOnly",
    "RelationshipsWithEdOrgsOnlyInverted",
}


def guard(client: AuthenticatedClient, resource: Resource, action: Action, using: str = "default") -> Guard | None:
    """What the client's claim set demands of rows; None if nothing.

    Raises what `claims.strategies` does, UnknownStrategies and StrategyNotApplicable.
    """
    names = strategies(client, resource, action)
    if names == (NO_FURTHER_AUTHORIZATION_REQUIRED,):
        return None
    rules = _rules(resource, names, is_for_changes=action == Action.READ_CHANGES)
    return StrategiesGuard(rules, client, using) if rules.restrict else None


def unknown_strategies(names: Iterable[str], *, is_for_changes: bool) -> tuple[str, ...]:
    """Those that there are not, or not for that."""
    known = {NO_FURTHER_AUTHORIZATION_REQUIRED, NAMESPACE_BASED, OWNERSHIP_BASED, *REACHES}
    including_deletes = {name for name in known if name.endswith(_INCLUDING_DELETES)}
    usable = _FOR_CHANGES | including_deletes if is_for_changes else known - including_deletes
    return tuple(name for name in names if name not in usable)


class Rules:
    """The strategies for one resource, those that must all allow in their order, ownership last."""

    def __init__(self, resource: Resource, names: tuple[str, ...], *, is_for_changes: bool) -> None:
        if unknown := unknown_strategies(names, is_for_changes=is_for_changes):
            raise UnknownStrategies(unknown)
        self.resource = resource
        found = tuple(groups(resource))
        kinds = {group[0].kind for group in found}
        self.relationships = [
            Relationship(name, REACHES[name], found, resource.authorization_pathways)
            for name in names
            if name in REACHES
        ]
        for relationship in self.relationships:
            if not relationship.checked:
                raise StrategyNotApplicable(resource.name.resource, relationship.name, _wanted(relationship))
        self.all_of: list[Strategy] = []
        if NAMESPACE_BASED in names:
            if SecurableKind.NAMESPACE not in kinds:
                raise StrategyNotApplicable(resource.name.resource, NAMESPACE_BASED, "Namespace")
            self.all_of.append(NamespaceBased(found))
        if OWNERSHIP_BASED in names:
            self.all_of.append(OwnershipBased())

    @property
    def restrict(self) -> bool:
        return bool(self.all_of or self.relationships)

    @property
    def need_prefixes(self) -> bool:
        return any(isinstance(strategy, NamespaceBased) for strategy in self.all_of)

    @cached_property
    def stored(self) -> str:
        return self.sql(STORED)

    @cached_property
    def proposed(self) -> str:
        return self.sql(PROPOSED)

    @cached_property
    def stored_for_some(self) -> str:
        """For those that other conditions have found."""
        return self._for_many(is_alone=False)

    @cached_property
    def stored_for_all(self) -> str:
        """For all of the resource."""
        return self._for_many(is_alone=True)

    def _for_many(self, is_alone: bool) -> str:
        all_of, any_of = (
            [strategy.sql_for_many(STORED, is_alone) for strategy in strategies]
            for strategies in (self.all_of, self.relationships)
        )
        return "d.resource_type_id = %(type)s AND " + _all(all_of, any_of)

    def sql(self, values: Values) -> str:
        any_of = [strategy.sql(values) for strategy in self.relationships]
        return f"coalesce({_all([strategy.sql(values) for strategy in self.all_of], any_of)}, false)"

    def questions(self, values: Values) -> list[str]:
        return [question for strategy in (*self.all_of, *self.relationships) for question in strategy.questions(values)]

    @cached_property
    def candidates(self) -> Candidates | None:
        """By one of the strategies that must allow; where several relationships may, by all of them together."""
        leading = self.relationships or self.all_of[:1]
        ways = [way for strategy in leading if (way := strategy.candidates())]
        if len(ways) < len(leading):
            return None
        return Candidates(
            " UNION ALL ".join(f"({way.sql})" for way in ways),
            f"({' OR '.join(way.are_many for way in ways)})",
            self._remaining(ways),
        )

    def _remaining(self, ways: list[Candidates]) -> str | None:
        """Of what one strategy leads to nothing has to be asked twice; where there are several, everything."""
        if self.relationships and not self.all_of and all(way.remaining is None for way in ways):
            return None
        if len(self.relationships) + len(self.all_of) > 1:
            return self.stored
        remaining = ways[0].remaining
        return remaining and f"coalesce({remaining}, false)"


@dataclass(frozen=True)
class StrategiesGuard:
    """The rules, asked for one client."""

    rules: Rules
    client: AuthenticatedClient
    using: str

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {
            "claims": list(self.client.education_organization_ids),
            "prefixes": list(self.client.namespace_prefixes),
            "owner": self.client.row_id,
            **_associations(self.using),
        }

    def sql(self, values: Values) -> str:
        if values is STORED:
            return self.rules.stored
        return self.rules.proposed if values is PROPOSED or values is NEW else self.rules.sql(values)

    def questions(self, values: Values) -> list[str]:
        return self.rules.questions(values)

    def refusal(self, answers: Sequence[bool], values: Values, unresolved: AbstractSet[JsonPath]) -> Exception | None:
        remaining = list(answers)
        for strategy in self.rules.all_of:
            own = _take(remaining, len(strategy.questions(values)))
            if refusal := strategy.refusal(own, values, unresolved, self.client):
                return refusal
        failures = []
        for relationship in self.rules.relationships:
            failure = relationship.failure(_take(remaining, len(relationship.questions(values))), unresolved)
            if failure is None:
                return None
            failures.append(failure)
        return self._merged(failures, values) if failures else None

    def _merged(self, failures: list[RelationshipFailure], values: Values) -> Exception:
        """One message for all; values that are not there come before those that nothing leads to."""
        without_value = [failure for failure in failures if failure.without_value]
        hints = _distinct(hint for failure in without_value or failures for hint in failure.hints)
        elements = _distinct(name for failure in without_value for name in failure.without_value)
        if without_value and values.is_stored:
            return ElementUninitialized(elements, tuple(failure.strategy for failure in without_value), hints)
        if without_value:
            return ElementRequired(elements, hints)
        return NoRelationship(
            tuple(sorted(self.client.education_organization_ids)),
            _distinct(name for failure in failures for name in failure.unrelated),
            hints,
        )

    def condition(self) -> Condition:
        """Raises NoNamespacePrefixes, without which a collection could only be empty."""
        if self.rules.need_prefixes and not self.client.namespace_prefixes:
            raise NoNamespacePrefixes
        rules = self.rules
        return Condition(rules.stored, rules.stored_for_some, self.parameters, rules.stored_for_all, rules.candidates)


_PATHWAYS = [
    (ResourceName(CORE_PROJECT, association), pathway.parameter)
    for pathway in Pathway
    for association, name in AUTHORIZATION_PATHWAYS.items()
    if name == pathway.surface_name
]

# By resource and strategies; a resource is told by its name and, where there are several surfaces, by itself.
_known_rules: dict[tuple[object, ...], Rules] = {}


def _rules(resource: Resource, names: tuple[str, ...], *, is_for_changes: bool) -> Rules:
    key = (resource.name, names, is_for_changes)
    known = _known_rules.get(key)
    if known is None or known.resource is not resource:
        known = _known_rules[key] = Rules(resource, names, is_for_changes=is_for_changes)
    return known


def _wanted(relationship: Relationship) -> str:
    reach = relationship.reach
    wanted = {
        "EducationOrganization": reach.organizations,
        "Student": reach.students,
        "Contact": reach.contacts,
        "Staff": reach.staff,
    }
    return " or ".join(name for name, is_wanted in wanted.items() if is_wanted)


def _all(all_of: list[str], any_of: list[str]) -> str:
    together = [f"({sql})" for sql in all_of]
    if any_of:
        together.append("(" + " OR ".join(f"({sql})" for sql in any_of) + ")")
    return " AND ".join(together)


def _associations(using: str) -> Mapping[str, list[int]]:
    """For each pathway the numbers of the associations that open it, those of other standards too."""
    numbers = resource_types.numbers(using)
    found: dict[str, list[int]] = {pathway.parameter: [] for pathway in Pathway}
    for name, parameter in _PATHWAYS:
        if name in numbers:
            found[parameter].append(numbers[name])
    return found


def _take(answers: list[bool], count: int) -> list[bool]:
    taken, answers[:] = answers[:count], answers[count:]
    return taken


def _distinct(names: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
