"""What a run found for a rule → its results, compared with the open ones in one transaction."""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from edfi_api.core.storage.driver.sql import Sql, statements_of
from edfi_api.features.validation.connections import Connection
from edfi_api.features.validation.finding import Staged
from edfi_api.features.validation.rule import Rule, Scope
from edfi_api.model.surface.resource import Surface

_sql = statements_of(__file__)
_LOCK, _APPEAR, _CHANGE, _RESOLVE, _RETIRE = map(_sql, ("lock_publishing", "appear", "change", "resolve", "retire"))
# Beyond this number the planner needs statistics of the staged rows; without them it joins by nested loops.
_MANY = 1_000
_ANALYZE_STAGED = "ANALYZE staged_violation"
_COPY = f"COPY staged_violation (run_id, rule_id, {', '.join(Staged._fields)}) FROM STDIN"
_UNSTAGE = "DELETE FROM staged_violation WHERE run_id = %(run)s AND rule_id = %(rule)s"
_NAMED = """
UPDATE validation_rule SET document_types = ARRAY(
    SELECT DISTINCT type FROM unnest(document_types || %(types)s::smallint[]) AS type ORDER BY type
) WHERE id = %(rule)s AND NOT %(types)s::smallint[] <@ document_types
"""
_COMPLETE = """
UPDATE validation_rule SET published_basis = %(basis)s, published_version = (
    SELECT change_version FROM validation_run WHERE id = %(run)s
) WHERE id = %(rule)s
"""
# Results of another version of the rule that were compared only in part need a full run.
_INCOMPLETE = "UPDATE validation_rule SET published_version = NULL WHERE id = %(rule)s"
_LAST_RUN = "UPDATE validation_rule SET published_run = %(run)s WHERE id = %(rule)s"
_RECORD = """
INSERT INTO validation_run_rule (
    run_id, rule_id, outcome, is_full, reason, seconds, found, unplaced, appeared, changed, resolved
) VALUES (
    %(run)s, %(rule)s, %(outcome)s, %(is_full)s, %(reason)s, %(seconds)s, %(found)s, %(unplaced)s, %(appeared)s,
    %(changed)s, %(resolved)s
)
"""
_CONDITIONS = {
    Scope.STUDENT: "r.student = ANY (%(scope)s::text[])",
    Scope.STAFF: "r.staff = ANY (%(scope)s::text[])",
    Scope.CONTACT: "r.contact = ANY (%(scope)s::text[])",
    Scope.ORGANIZATION: "r.organization = ANY (%(scope)s::bigint[])",
    Scope.DOCUMENT: "r.document_uuid = ANY (%(scope)s::uuid[])",
}

log = logging.getLogger(__name__)

_LONGEST_LOGIC = 4000
_SAVE = statements_of(__file__)("save_rule")
_BEFORE = "SELECT source, identifier, version, digest FROM validation_rule"


@dataclass(frozen=True, slots=True)
class Compared:
    """The part of the results that was compared: everything, or the results of these values of the scope, and of these
    organizations."""

    scope: Scope | None = None
    values: list[object] | None = None
    organizations: list[int] | None = None

    @property
    def condition(self) -> Sql:
        """The condition on results `r`."""
        parts = [Sql("true")]
        if self.values is not None and self.scope is not None:
            parts.append(Sql(_CONDITIONS[self.scope], {"scope": self.values}))
        if self.organizations is not None:
            parts.append(Sql("r.organization = ANY (%(within)s::bigint[])", {"within": self.organizations}))
        return Sql.join(" AND ", parts)


@dataclass(frozen=True, slots=True)
class Published:
    """The numbers of results that appeared, changed and were resolved."""

    appeared: int = 0
    changed: int = 0
    resolved: int = 0


NOTHING = Published()


class Outcome(StrEnum):
    """The outcome of a rule in a run; the values are those of the database."""

    PUBLISHED = "published"
    TRUNCATED = "truncated"
    TIMED_OUT = "timed out"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The way in which the violations of a rule were found; `reason` says why fully, or why not at all."""

    outcome: Outcome
    is_full: bool
    reason: str
    seconds: float
    found: int = 0
    unplaced: int = 0


@dataclass(frozen=True, slots=True)
class Publisher:
    """Publishes the violations of one rule, by the number of the run and of the rule."""

    connection: Connection
    run: int
    rule: int

    def stage(self, rows: Iterable[Staged]) -> None:
        """Write the rows invisibly to others; an abandoned COPY leaves none."""
        with self.connection.cursor() as cursor, cursor.copy(_COPY) as copy:
            for row in rows:
                copy.write_row((self.run, self.rule, *row))

    def discard(self) -> None:
        self._execute(Sql(_UNSTAGE))

    def publish(
        self,
        evaluation: Evaluation,
        compared: Compared,
        types: Iterable[int],
        basis: str | None,
        *,
        is_incomplete: bool,
    ) -> Published:
        """Compare what was staged with the open results. `basis` is what they depend on if they are complete
        now, with all changes up to the version of the run. Without it, a full run may make them incomplete. What was
        truncated resolves nothing."""
        with self.connection.transaction():
            self.connection.execute(_LOCK.text)
            if evaluation.found > _MANY:
                self.connection.execute(_ANALYZE_STAGED)
            self._execute(Sql(_NAMED, {"types": sorted(types)}))
            appeared = self._execute(_APPEAR)
            changed = self._execute(_CHANGE)
            resolved = 0
            if evaluation.outcome is Outcome.PUBLISHED:
                resolved = self._execute(_RESOLVE.fill(within=compared.condition))
            self.discard()
            published = Published(appeared, changed, resolved)
            self.record(evaluation, published)
            self._execute(Sql(_LAST_RUN))
            if basis:
                self._execute(Sql(_COMPLETE, {"basis": basis}))
            elif evaluation.is_full and is_incomplete:
                self._execute(Sql(_INCOMPLETE))
        return published

    def record(self, evaluation: Evaluation, published: Published = NOTHING) -> None:
        """Write down what the run did with the rule."""
        self._execute(Sql(_RECORD, {**asdict(evaluation), **asdict(published)}))

    def _execute(self, statement: Sql) -> int:
        given = {**statement.parameters, "run": self.run, "rule": self.rule}
        return self.connection.execute(statement.text, given).rowcount


def retire(connection: Connection, run: int, active: list[int]) -> int:
    """Resolve the results of all other rules than the active ones; their number."""
    with connection.transaction():
        connection.execute(_LOCK.text)
        return connection.execute(_RETIRE.text, {"run": run, "active": active}).rowcount


@dataclass(frozen=True, slots=True)
class RegisteredRule:
    """A rule and its number; `overrides` are texts, by the names of parameters. `published_version` and
    `published_basis` say for which change version and for what else its results are complete."""

    rule: Rule
    number: int = 0
    overrides: Mapping[str, str] = field(default_factory=dict)
    published_version: int | None = None
    published_basis: str | None = None


def register(rules: Iterable[Rule], surface: Surface, connection: Connection) -> list[RegisteredRule]:
    """Save the metadata of the rules; those that are on: active by their files, unless the admin says otherwise."""
    before = {(source, identifier): tuple(facts) for source, identifier, *facts in connection.execute(_BEFORE)}
    found = []
    for rule in rules:
        version, digest = before.get((rule.source, rule.identifier), (None, None))
        if version == rule.version and digest != rule.digest:
            log.warning("the rule %s has another text than before, but the same version %s", rule.name, version)
        [[number, is_on, overrides, *published]] = connection.execute(_SAVE.text, _columns(rule, surface))
        if is_on:
            found.append(RegisteredRule(rule, number, overrides, *published))
    return found


def _columns(rule: Rule, surface: Surface) -> dict[str, Any]:
    resource = surface.resource_at(rule.resource)
    declared = {name: {"type": each.type, "default": str(each.default)} for name, each in rule.parameters.items()}
    return {
        **{name: getattr(rule, name) for name in ("source", "identifier", "version", "digest", "language", "category")},
        **{name: getattr(rule, name) for name in ("short", "description", "help_url", "external_id", "active")},
        "file": str(rule.path),
        "resource": resource.name.resource if resource else rule.resource,
        "severity": rule.severity,
        "logic": rule.text[:_LONGEST_LOGIC] if rule.publish_logic else "",
        "declared_parameters": json.dumps(declared),
    }
