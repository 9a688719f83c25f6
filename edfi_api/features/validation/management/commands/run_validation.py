"""`manage.py run_validation`: what rules find in the stored documents becomes results."""

import os
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import replace
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import add_database, day, integer, name, text
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.served import current_surface
from edfi_api.features.validation.checking import served
from edfi_api.features.validation.connections import NoReplica, ReplicaLags
from edfi_api.features.validation.requested_runs import end_request, next_request
from edfi_api.features.validation.rule import Rule
from edfi_api.features.validation.rule_files import configured_rules
from edfi_api.features.validation.running import MOST_JOBS, AlreadyRunning, Report, RunOptions, WasStopped, run_rules
from edfi_api.features.validation.values import UnusableValue

_BIGINT = 2**63 - 1
_HEAD = ("rule", "outcome", "seconds", "found", "appeared", "changed", "resolved", "")


class Command(DataStoreCommand):
    """See the module."""

    error_texts = {
        UnusableValue: str,
        NoReplica: str,
        ReplicaLags: str,
    }
    help = (
        "Runs the rules of validation over the stored documents, all in one snapshot, and keeps what they find as"
        " results. Rules that allow it look only at what changed since their last run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--rule", type=name, action="append", default=[], metavar="ID", help="only this; repeatable"
        )
        parser.add_argument(
            "--category", type=name, action="append", default=[], metavar="C", help="only rules of it; repeatable"
        )
        parser.add_argument(
            "--organization",
            type=integer(0, _BIGINT),
            action="append",
            default=[],
            metavar="ID",
            help="only violations in this education organization and those below; repeatable",
        )
        parser.add_argument("--full", action="store_true", help="look at all documents, not only at what changed")
        parser.add_argument(
            "--jobs", type=integer(1, MOST_JOBS), default=2, metavar="N", help="rules at a time (default 2)"
        )
        parser.add_argument(
            "--set", type=assignment, action="append", default=[], metavar="NAME=VALUE", help="value of a parameter"
        )
        parser.add_argument(
            "--today", type=day, default=None, metavar="DAY", help="what rules take for today; default: today, in UTC"
        )
        parser.add_argument("--dry-run", action="store_true", help="print what rules find; nothing is stored")
        parser.add_argument("--replica", action="store_true", help="rules read from the streaming replica")
        parser.add_argument("--requested", action="store_true", help="only the runs that clients have requested")
        add_database(parser, "the database with the documents")

    def handle(self, *args: Any, database: str, **options: Any) -> None:
        if options["requested"] and options["dry_run"]:
            raise CommandError("--requested and --dry-run exclude each other.")
        chosen = RunOptions(
            rules=frozenset(options["rule"]),
            categories=frozenset(options["category"]),
            organizations=tuple(options["organization"]),
            texts=dict(options["set"]),
            is_full=options["full"],
            is_dry_run=options["dry_run"],
            jobs=options["jobs"],
            on_replica=options["replica"],
            today=options["today"],
        )
        try:
            is_whole = self._run_requested(chosen, database) if options["requested"] else self._run(chosen, database)
        except AlreadyRunning as error:
            raise CommandError(f"Rules are being run already: {error}.", returncode=os.EX_TEMPFAIL) from error
        if not is_whole:
            raise CommandError("Not all rules were run completely.")

    def _run_requested(self, options: RunOptions, database: str) -> bool:
        """Return whether all runs that clients have requested were complete. A stopped one is not begun again."""
        is_whole = True
        while wanted := next_request(database):
            try:
                is_whole &= self._run(wanted.with_options_of(options), database)
            except WasStopped:
                self.stderr.write(f"the run {wanted.run} was stopped before it ended")
            end_request(wanted, database)
        return is_whole

    def _run(self, options: RunOptions, database: str) -> bool:
        """Return whether all rules were run completely."""
        found = configured_rules()
        rules = served(found.rules, current_surface())
        if options.run is None:  # A rule may be gone since a client has requested its run.
            _refuse_unknown(rules, options)
        for problem in found.problems:
            self.stderr.write(str(problem))
        retires_others = options.retires_others and not found.problems
        report = run_rules(rules, replace(options, retires_others=retires_others), current_surface(), database)
        self._print(report, is_dry_run=options.is_dry_run)
        return not report.has_failed and not found.problems

    def _print(self, report: Report, *, is_dry_run: bool) -> None:
        rows: list[tuple[str, ...]] = [_HEAD]
        for each in report.rules:
            done, published = each.evaluation, each.published
            counts = [done.found, published.appeared, published.changed, published.resolved]
            reason = f"full: {done.reason}" if done.is_full and done.reason else done.reason
            rows.append((each.rule, done.outcome, f"{done.seconds:.1f}", *map(str, counts), reason))
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.stdout.write("  ".join(cells).rstrip())
        for each in report.rules:
            for example in each.examples:
                what = example.natural_key or f"organization {example.organization}"
                self.stdout.write(f"{each.rule}: {what} {example.key}: {example.message}")
        if not is_dry_run:
            self.stdout.write(f"run {report.identifier}" + ("" if report.is_complete else ", stopped: out of time"))


def assignment(given: str) -> tuple[str, str]:
    """`name=value`."""
    left, equals, value = text(given).partition("=")
    if not equals or not left.isidentifier():
        raise ArgumentTypeError(f"{given!r} is not name=value")
    return left, value


def _refuse_unknown(rules: list[Rule], options: RunOptions) -> None:
    identifiers, categories = {rule.identifier for rule in rules}, {rule.category for rule in rules}
    names = {parameter for rule in rules for parameter in rule.parameters}
    for what, unknown in (
        ("rule", options.rules - identifiers),
        ("category", options.categories - categories),
        ("parameter", options.texts.keys() - names),
    ):
        if unknown:
            raise CommandError(f"There is no {what} {', '.join(sorted(unknown))}.")
