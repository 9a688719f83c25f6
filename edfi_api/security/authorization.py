"""Client, resource, action → the row policy: the combined strategies of the client's claim set.

All strategies must allow, except that one of the relationship strategies is sufficient. Their SQL is the same for all
clients of a resource, so that prepared statements are reused; the client's claims are parameters. See
meadowlark/docs/authorization.md#strategies.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import ProgrammingError

from edfi_api.model.surface.resource import JsonPath, Resource, Surface
from edfi_api.storage.driver.sql import Sql, merged
from edfi_api.storage.row_policy import AccessPath, Clause, Explanation, Predicate, RowPolicy

from .actions import Action
from .claims import strategies
from .exceptions import ElementRequired, ElementUninitialized, NoRelationship, UnknownStrategies
from .strategies.relationships import Relationship, RelationshipFailure
from .strategies.strategy import Candidates, Strategy, Subject
from .strategies.table import NO_FURTHER_AUTHORIZATION_REQUIRED, Combination, row, unknown_strategies
from .strategies.values import KEPT, PROPOSED, STORED, Values
from .tokens import AuthenticatedClient


def row_policy(
    client: AuthenticatedClient, resource: Resource, action: Action, surface: Surface, using: str = "default"
) -> RowPolicy | None:
    """The policy of the client's claim set; None if it sets no condition on rows.

    Raises what `claims.strategies` does, UnknownStrategies and StrategyNotApplicable.
    """
    names = strategies(client, resource, action)
    if names == (NO_FURTHER_AUTHORIZATION_REQUIRED,):
        return None
    rules = _rules(resource, names, action == Action.READ_CHANGES, surface, using)
    return ClientPolicy(rules, client, using) if rules.restrict else None


class Rules:
    """The strategies for one resource. Those that must all allow are in configured order, with ownership last.

    Raises UnknownStrategies for names without a strategy and StrategyNotApplicable.
    """

    def __init__(self, names: Iterable[str], subject: Subject) -> None:
        self.names = tuple(dict.fromkeys(names))
        self.subject = subject
        made: dict[Combination, list[Any]] = {each: [] for each in Combination}
        for name in self.names:
            if (found := row(name)) is None:
                raise UnknownStrategies((name,))
            if strategy := found.make(name, subject):
                made[found.combination].append(strategy)
        self.relationships: list[Relationship] = made[Combination.ANY]
        self.all_of: list[Strategy] = made[Combination.ALL] + made[Combination.ALL_AFTER_OTHERS]

    @property
    def restrict(self) -> bool:
        return bool(self.all_of or self.relationships)

    @cached_property
    def strategies(self) -> tuple[Strategy, ...]:
        """All strategies: first those that must all allow, then the relationship strategies."""
        return (*self.all_of, *self.relationships)

    @cached_property
    def using(self) -> str:
        return self.sql(KEPT if self.subject.is_for_changes else STORED)

    @cached_property
    def with_check(self) -> str:
        return self.sql(PROPOSED)

    @cached_property
    def using_for_some(self) -> str:
        """The condition for rows that other conditions have already narrowed down."""
        return self._for_many(is_alone=False)

    @cached_property
    def using_for_all(self) -> str:
        """The condition for all rows of the resource."""
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
        return [question for strategy in self.strategies for question in strategy.questions(values)]

    @cached_property
    def candidates(self) -> Candidates | None:
        """The candidates of all relationship strategies together; if there are none, those of the first other strategy
        that has candidates."""
        if self.relationships:
            ways = [strategy.candidates() for strategy in self.relationships]
        else:
            ways = [way for strategy in self.all_of if (way := strategy.candidates())][:1]
        if not ways:
            return None
        return Candidates(
            " UNION ALL ".join(f"({way.sql})" for way in ways),
            f"({' OR '.join(way.are_many for way in ways)})",
            self._remaining(ways),
        )

    def _remaining(self, ways: list[Candidates]) -> str | None:
        """The condition still to be checked on candidates: of a single strategy its remaining one, of several all."""
        if self.relationships and not self.all_of and all(way.remaining is None for way in ways):
            return None
        if len(self.relationships) + len(self.all_of) > 1:
            return self.using
        remaining = ways[0].remaining
        return remaining and f"coalesce({remaining}, false)"


@dataclass(frozen=True)
class ClientPolicy:
    """The rules applied to one client."""

    rules: Rules
    client: AuthenticatedClient
    database: str

    @cached_property
    def _parameters(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = {}
        for strategy in self.rules.strategies:
            found = merged(found, strategy.parameters(self.client, self.database))
        return found

    @property
    def using(self) -> Sql:
        return Sql(self.rules.using, self._parameters)

    @property
    def with_check(self) -> Sql:
        return Sql(self.rules.with_check, self._parameters)

    @property
    def with_check_new(self) -> Sql:
        return self.with_check

    def predicate(self) -> Predicate:
        """Raises the refusal of a strategy that can allow this client no document at all."""
        rules = self.rules
        for strategy in rules.all_of:
            if refusal := strategy.precondition(self.client):
                raise refusal
        some, all_ = Sql(rules.using_for_some, self._parameters), Sql(rules.using_for_all, self._parameters)
        return Predicate(self.using, some, all_, self._access_path())

    def _access_path(self) -> AccessPath | None:
        way, parameters = self.rules.candidates, self._parameters
        if way is None:
            return None
        return AccessPath(
            Sql(way.sql, parameters),
            Sql(way.sql.replace("%(looked_at)s", "NULL"), parameters),
            Sql(way.are_many, parameters),
            Sql(way.remaining, parameters) if way.remaining is not None else None,
        )

    def explanation(self, clause: Clause) -> Explanation:
        values = STORED if clause is Clause.USING else PROPOSED
        tests = tuple(Sql(text, self._parameters) for text in self.rules.questions(values))
        return Explanation(tests, lambda results, unresolved: self._refusal(results, values, unresolved))

    def _refusal(self, results: Sequence[bool], values: Values, unresolved: AbstractSet[JsonPath]) -> Exception | None:
        remaining = list(results)
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
        """One error for all failures; missing values take precedence over missing relationships."""
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

    def fault(self, error: Exception) -> Exception | None:
        """UnknownStrategies if the error came from a custom view that was dropped after these rules were made."""
        if not isinstance(error, ProgrammingError):
            return None
        unknown = _unknown(self.rules.names, self.rules.subject, self.database)
        return UnknownStrategies(unknown) if unknown else None


# By resource, strategies and whether they are for changes. A resource is identified by its name and, where there are
# several surfaces, by the object itself.
_known_rules: dict[tuple[object, ...], Rules] = {}


def _rules(resource: Resource, names: tuple[str, ...], is_for_changes: bool, surface: Surface, using: str) -> Rules:
    key = (resource.name, names, is_for_changes)
    known = _known_rules.get(key)
    if known is None or known.subject.resource is not resource:
        subject = Subject(resource, surface, is_for_changes)
        if unknown := _unknown(names, subject, using):
            raise UnknownStrategies(unknown)
        known = _known_rules[key] = Rules(names, subject)
    return known


def _unknown(names: Iterable[str], subject: Subject, using: str) -> tuple[str, ...]:
    return unknown_strategies(names, subject.surface, for_changes=subject.is_for_changes, using=using)


def _all(all_of: list[str], any_of: list[str]) -> str:
    together = [f"({sql})" for sql in all_of]
    if any_of:
        together.append("(" + " OR ".join(f"({sql})" for sql in any_of) + ")")
    return " AND ".join(together)


def _take(answers: list[bool], count: int) -> list[bool]:
    taken, answers[:] = answers[:count], answers[count:]
    return taken


def _distinct(names: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
