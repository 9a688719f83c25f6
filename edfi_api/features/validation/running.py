"""Runs rules: all of them read one snapshot, and the results of each are published whole or not at all."""

import logging
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from secrets import token_hex
from typing import Any
from uuid import UUID

import psycopg
from psycopg import errors

from edfi_api.common.conf import api_settings
from edfi_api.common.one_process import exclusively
from edfi_api.core.storage import resource_types
from edfi_api.features.changes.change_queries.tracked_changes import newest_change_version
from edfi_api.features.validation.connections import (
    Connection,
    OutOfTime,
    Reading,
    caught_up_replica,
    connect,
    reading,
)
from edfi_api.features.validation.finding import Finder, Found, Staged, fault_of, resource_of
from edfi_api.features.validation.publishing import (
    NOTHING,
    Compared,
    Evaluation,
    Outcome,
    Published,
    Publisher,
    RegisteredRule,
    register,
    retire,
)
from edfi_api.features.validation.rule import Rule, Scope
from edfi_api.features.validation.scoping import RunFully, Watched, changed_values
from edfi_api.features.validation.values import RunValues, run_values
from edfi_api.model.surface.resource import Surface

log = logging.getLogger(__name__)

MOST_JOBS = 8
_EXAMPLES = 20

_RUNNING = "SELECT run_identifier, host FROM validation_run WHERE status = 'Running' ORDER BY id DESC LIMIT 1"
_STOP_KILLED = "UPDATE validation_run SET status = 'Stopped', finished_at = now() WHERE status = 'Running'"
_CLEAR = "TRUNCATE staged_violation"
_BEGIN = """
INSERT INTO validation_run (run_uuid, run_identifier, host, started_by, change_version)
VALUES (coalesce(%(run)s, gen_random_uuid()), %(identifier)s, %(host)s, %(by)s, %(version)s)
ON CONFLICT (run_uuid) DO NOTHING RETURNING id
"""
_END = "UPDATE validation_run SET status = %(status)s, finished_at = now() WHERE id = %(run)s"
_WITHIN = """
SELECT DISTINCT descendant_id FROM organization_closure WHERE ancestor_id = ANY (%(organizations)s::bigint[])
"""


@dataclass
class AlreadyRunning(Exception):
    """Another process runs rules of this database."""

    run: str
    host: str

    def __str__(self) -> str:
        return f"{self.run} runs on {self.host}" if self.run else "another run has just begun"


class WasStopped(Exception):
    """There was a run with this id before, which did not end."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run: rules by identifier, categories; of no organizations but these; with these parameters."""

    rules: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    organizations: tuple[int, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    is_full: bool = False
    is_dry_run: bool = False
    jobs: int = 2
    # Whether rules read from a replica.
    on_replica: bool = False
    by: str = "command"
    # The id that the run is to have.
    run: UUID | None = None
    # Whether the rules are all there are: results of others are resolved then.
    retires_others: bool = True
    # The day that rules take for today, the current one of UTC if there is none.
    today: date | None = None

    def includes(self, rule: Rule) -> bool:
        return (not self.rules or rule.identifier in self.rules) and (
            not self.categories or rule.category in self.categories
        )


@dataclass(frozen=True, slots=True)
class RuleReport:
    """The result of a rule in a run, and whether it ended before the rule; a dry run has examples of its violations."""

    rule: str
    evaluation: Evaluation
    published: Published = NOTHING
    examples: tuple[Staged, ...] = ()
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A run: its identifier, whether all rules were run, and what was done with each."""

    identifier: str
    is_complete: bool
    rules: tuple[RuleReport, ...]

    @property
    def has_failed(self) -> bool:
        return not self.is_complete or any(each.evaluation.outcome is not Outcome.PUBLISHED for each in self.rules)


def run_rules(rules: Iterable[Rule], options: RunOptions, surface: Surface, using: str) -> Report:
    """Run the requested ones of these rules.

    Raises AlreadyRunning, WasStopped, UnusableValue for a value of a parameter, NoReplica and ReplicaLags.
    """
    known = list(rules)
    values = run_values(surface, using, options.today or datetime.now(UTC).date(), options.texts)
    for rule in known:
        values.of(rule, {})
    identifier = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}-{token_hex(2)}"
    with exclusively("run_validation", using, lambda: _already_running(using)), connect(using) as connection:
        # Read before the snapshot, which therefore has all changes up to that version.
        version = newest_change_version(using)
        source = caught_up_replica(using) if options.on_replica else using
        if options.is_dry_run:
            number, registered = 0, [RegisteredRule(rule) for rule in known if rule.active]
        else:
            connection.execute(_STOP_KILLED)
            connection.execute(_CLEAR)
            number = _begin(identifier, options, version, connection)
            registered = register(known, surface, connection)
            if options.retires_others:
                retire(connection, number, [each.number for each in registered])
        chosen = [each for each in registered if options.includes(each.rule)]
        with _snapshot(options.organizations, source) as (snapshot, organizations):
            run = _Run(number, identifier, options, values, surface, using, source, snapshot, organizations)
            reports = run.all(chosen)
        is_complete = len(reports) == len(chosen) and not any(report.is_cut for report in reports)
        if not options.is_dry_run:
            connection.execute(_END, {"run": number, "status": "Completed" if is_complete else "Stopped"})
    return Report(identifier, is_complete, tuple(reports))


def _already_running(using: str) -> AlreadyRunning:
    with connect(using) as connection:
        return AlreadyRunning(*(connection.execute(_RUNNING).fetchone() or ("", "")))


def _begin(identifier: str, options: RunOptions, version: int, connection: Connection) -> int:
    """The number of a new run. Raises WasStopped."""
    new = {"run": options.run, "identifier": identifier, "by": options.by, "version": version}
    begun = connection.execute(_BEGIN, new | {"host": socket.gethostname()}).fetchone()
    if begun is None:
        raise WasStopped
    return int(begun[0])


@contextmanager
def _snapshot(above: tuple[int, ...], using: str) -> Iterator[tuple[str, list[int] | None]]:
    """A snapshot for all rules, and the organizations at and below the requested ones in it; None for all."""
    with connect(using) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        with connection.transaction():
            connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            [[snapshot]] = connection.execute("SELECT pg_export_snapshot()")
            within = None
            if above:
                within = [row for (row,) in connection.execute(_WITHIN, {"organizations": list(above)})]
            yield snapshot, within


@dataclass(frozen=True)
class _Run:
    """`using` is the database with the results, `source` the one in which rules read: the same, or a replica."""

    number: int
    identifier: str
    options: RunOptions
    values: RunValues
    surface: Surface
    using: str
    source: str
    snapshot: str
    organizations: list[int] | None
    started: float = field(default_factory=time.monotonic)

    def all(self, rules: Sequence[RegisteredRule]) -> list[RuleReport]:
        """The reports of the rules that began within the time limit of a run."""
        with ThreadPoolExecutor(self.options.jobs) as pool:
            return [report for report in pool.map(self._in_time, rules) if report]

    def _in_time(self, registered: RegisteredRule) -> RuleReport | None:
        left = api_settings.VALIDATION_SECONDS - (time.monotonic() - self.started)
        if left <= 0:
            return None
        with connect(self.using) as connection:
            return _RuleRun(self, registered, left, connection).report()


class _RuleRun:
    """One rule of a run that has `left` seconds."""

    def __init__(self, run: _Run, registered: RegisteredRule, left: float, connection: Connection) -> None:
        self.run = run
        self.registered = registered
        self.rule = registered.rule
        self.ends_with_run = left < self.rule.seconds
        self.seconds = min(left, self.rule.seconds)
        self.publisher = Publisher(connection, run.number, registered.number)
        self.examples: list[Staged] = []
        self.found = Found()
        self.scope: list[Any] | None = None
        self.reason = ""

    def report(self) -> RuleReport:
        started = time.monotonic()
        outcome, published = Outcome.PUBLISHED, NOTHING
        try:
            values = self.run.values.of(self.rule, self.registered.overrides)
            self._find(values)
            outcome = Outcome.TRUNCATED if self.found.is_truncated else Outcome.PUBLISHED
            if not self.run.options.is_dry_run:
                published = self._publish(self._evaluation(outcome, started), values)
        except (OutOfTime, errors.QueryCanceled):
            outcome, self.reason = Outcome.TIMED_OUT, self._limit()
        except BaseException as error:  # A rule in Python may raise SystemExit, too.
            if isinstance(error, KeyboardInterrupt):
                raise
            outcome, self.reason = Outcome.FAILED, fault_of(error, self.rule)
        evaluation = self._evaluation(outcome, started)
        if outcome in (Outcome.TIMED_OUT, Outcome.FAILED):
            first_line = self.reason.partition("\n")[0]
            log.warning("the rule %s %s in the run %s: %s", self.rule.name, outcome, self.run.identifier, first_line)
            if not self.run.options.is_dry_run:
                self.publisher.record(evaluation)
        is_cut = outcome is Outcome.TIMED_OUT and self.ends_with_run
        return RuleReport(self.rule.name, evaluation, published, tuple(self.examples), is_cut)

    def _limit(self) -> str:
        if self.ends_with_run:
            return f"the run takes more than {api_settings.VALIDATION_SECONDS} seconds"
        return f"more than {self.rule.seconds} seconds"

    def _evaluation(self, outcome: Outcome, started: float) -> Evaluation:
        return Evaluation(
            outcome,
            is_full=self.scope is None,
            reason=self.reason,
            seconds=time.monotonic() - started,
            found=self.found.count,
            unplaced=self.found.unplaced,
        )

    def _find(self, values: Mapping[str, Any]) -> None:
        numbers = resource_types.numbers(self.run.using)
        resource = resource_of(self.rule, self.run.surface)
        with reading(self.run.source, self.rule, self.seconds, self.run.snapshot) as opened:
            self.scope = self._changed(opened, values)
            finder = Finder(self.rule, resource, numbers[resource.name], self.run.surface, values, self.scope)
            rows = self._within(finder.staged(opened, self.found))
            if self.run.options.is_dry_run:
                for row in rows:
                    if len(self.examples) < _EXAMPLES:
                        self.examples.append(row)
            else:
                self.publisher.stage(rows)

    def _changed(self, opened: Reading, values: Mapping[str, Any]) -> list[Any] | None:
        """The values of the scope that changes concern; None, and the reason, if everything has to be looked at."""
        incremental = self.rule.incremental
        if incremental is None:
            return None
        self.reason = self._reason_for_all(values)
        if self.reason:
            return None
        numbers = resource_types.numbers(self.run.using)
        after = self.registered.published_version or 0
        watched = [self.run.surface.resource_at(path) for path in incremental.watch]
        try:
            found = [Watched(each, numbers[each.name]) for each in watched if each]
            return changed_values(incremental.scope, found, after, opened)
        except RunFully as error:
            self.reason = str(error)
            return None

    def _reason_for_all(self, values: Mapping[str, Any]) -> str:
        if self.run.options.is_full:
            return "requested"
        if self.registered.published_version is None:
            return "the last full run was not complete" if self.registered.published_basis else "first run"
        if self.registered.published_basis != self.run.values.basis(self.rule, values):
            return "another version, parameter, standard or day"
        return ""

    def _within(self, rows: Iterator[Staged]) -> Iterator[Staged]:
        if self.run.organizations is None:
            return rows
        within = frozenset(self.run.organizations)
        return (row for row in rows if row.organization in within)

    def _publish(self, evaluation: Evaluation, values: Mapping[str, Any]) -> Published:
        """A run of some organizations leaves the results as complete as they were, unless it found them by other values
        of parameters."""
        is_limited = self.run.organizations is not None
        is_whole = evaluation.outcome is Outcome.PUBLISHED
        basis = self.run.values.basis(self.rule, values)
        scope: Scope | None = self.rule.incremental.scope if self.rule.incremental else None
        return self.publisher.publish(
            evaluation,
            Compared(scope, self.scope, self.run.organizations),
            self.found.types,
            basis if is_whole and not is_limited else None,
            is_incomplete=not (is_whole and basis == self.registered.published_basis),
        )
