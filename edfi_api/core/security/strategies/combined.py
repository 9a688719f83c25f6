"""The strategies of a resource combined, and their application to one client: the row policy.

Their SQL is the same for all clients of a resource, so statements are composed and prepared once; the claims of the
client are parameters. See meadowlark/docs/design/authorization.md#strategies.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.exceptions import UnknownStrategies
from edfi_api.core.security.strategies.relationships import AnyRelationship, Relationship
from edfi_api.core.security.strategies.strategy import (
    KEPT,
    PROPOSED,
    STAGED,
    STORED,
    Strategy,
    Subject,
    Unresolved,
    Values,
)
from edfi_api.core.security.strategies.table import row
from edfi_api.core.storage.driver.sql import Sql, all_of, merged
from edfi_api.core.storage.row_policy import AccessPath, Clause, Explanation, Predicate, SetConditions


class CombinedStrategies:
    """The strategies for one resource, all of which have to allow, in the order in which they are checked.

    Raises UnknownStrategies for names without a strategy and StrategyNotApplicable.
    """

    def __init__(self, names: Iterable[str], subject: Subject) -> None:
        self.names = tuple(dict.fromkeys(names))
        self.subject = subject
        self.strategies = tuple(_made(self.names, subject))

    @cached_property
    def using(self) -> Sql:
        return self._condition(KEPT if self.subject.is_for_changes else STORED)

    @cached_property
    def using_on_versions(self) -> Sql:
        return _never_null(all_of(strategy.condition_on_versions() for strategy in self.strategies))

    @cached_property
    def with_check(self) -> Sql:
        return self._condition(PROPOSED)

    @cached_property
    def with_check_staged(self) -> Sql | None:
        """`with_check` on rows `s`; None if the documents of one statement may decide about each other."""
        if any(strategy.depends_on_its_subject for strategy in self.strategies):
            return None
        return self._condition(STAGED)

    @cached_property
    def predicate(self) -> Predicate:
        return Predicate(
            self.using,
            self._for_many(is_alone=False),
            self._for_many(is_alone=True),
            self._access_path(),
            organizations=next((found for each in self.strategies if (found := each.organizations())), None),
            rows=self.strategies[0].rows() if len(self.strategies) == 1 else None,
        )

    def explanation(self, values: Values, client: AuthenticatedClient) -> Explanation:
        """The tests of all strategies; the refusal is that of the first strategy that fails."""
        parts = [strategy.explanation(values, client) for strategy in self.strategies]

        def refuse(results: Sequence[bool], unresolved: Unresolved) -> Exception | None:
            remaining = iter(results)
            for part in parts:
                if refusal := part.refuse([next(remaining) for _ in part.tests], unresolved):
                    return refusal
            return None

        return Explanation(tuple(test for part in parts for test in part.tests), refuse)

    def _condition(self, values: Values) -> Sql:
        return _never_null(all_of(strategy.condition(values) for strategy in self.strategies))

    def _for_many(self, is_alone: bool) -> Sql:
        conditions = all_of(strategy.condition_for_many(is_alone) for strategy in self.strategies)
        return "d.resource_type_id = %(type)s AND (" + conditions + ")"

    def _access_path(self) -> AccessPath | None:
        """Return the access path of the relationships, otherwise that of the first strategy that has one."""
        relationships_first = sorted(self.strategies, key=lambda each: not isinstance(each, AnyRelationship))
        path = next((path for each in relationships_first if (path := each.access_path())), None)
        if path is None:
            return None
        remaining = path.remaining and _never_null(path.remaining)
        if len(self.strategies) > 1:
            remaining = self.using
        return AccessPath(path.first_rows, path.all_rows, "(" + path.has_many_branches + ")", remaining)


def _made(names: Iterable[str], subject: Subject) -> Iterable[Strategy]:
    made: list[Strategy] = []
    last: list[Strategy] = []
    relationships: list[Relationship] = []
    for name in names:
        if (found := row(name)) is None:
            raise UnknownStrategies((name,))
        match found.make(name, subject):
            case None:
                continue
            case Relationship() as relationship:
                relationships.append(relationship)
            case strategy:
                (last if found.is_last else made).append(strategy)
    return [*made, *last, *([AnyRelationship(tuple(relationships))] if relationships else [])]


def _never_null(condition: Sql) -> Sql:
    return "coalesce(" + condition + ", false)"


@dataclass(frozen=True)
class ClientPolicy:
    """The strategies applied to one client: a `storage.row_policy.RowPolicy`. `database` is its alias."""

    strategies: CombinedStrategies
    client: AuthenticatedClient
    database: str

    @cached_property
    def _parameters(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = {}
        for strategy in self.strategies.strategies:
            found = merged(found, strategy.parameters(self.client, self.database))
        return found

    @cached_property
    def using(self) -> Sql:
        return self._bound(self.strategies.using)

    @property
    def using_on_versions(self) -> Sql:
        return self._bound(self.strategies.using_on_versions)

    @cached_property
    def with_check(self) -> Sql:
        return self._bound(self.strategies.with_check)

    @property
    def with_check_new(self) -> Sql:
        return self.with_check

    def for_sets(self) -> SetConditions | None:
        staged = self.strategies.with_check_staged
        if staged is None:
            return None
        check = self._bound(staged)
        return SetConditions(self.using, check, check)

    def predicate(self) -> Predicate:
        """Raises the refusal of a strategy that can allow this client no document at all."""
        for strategy in self.strategies.strategies:
            if refusal := strategy.precondition(self.client):
                raise refusal
        unbound = self.strategies.predicate
        path, alone = unbound.access_path, unbound.alone
        return Predicate(
            self._bound(unbound.for_one_row),
            self._bound(unbound.for_many_rows),
            alone and self._bound(alone),
            path
            and AccessPath(
                self._bound(path.first_rows),
                self._bound(path.all_rows),
                self._bound(path.has_many_branches),
                path.remaining and self._bound(path.remaining),
            ),
            organizations=unbound.organizations and self._bound(unbound.organizations),
            rows=unbound.rows and self._bound(unbound.rows),
        )

    def explanation(self, clause: Clause) -> Explanation:
        values = STORED if clause is Clause.USING else PROPOSED
        unbound = self.strategies.explanation(values, self.client)
        return Explanation(tuple(self._bound(test) for test in unbound.tests), unbound.refuse)

    def _bound(self, sql: Sql) -> Sql:
        return Sql(sql.text, self._parameters)
