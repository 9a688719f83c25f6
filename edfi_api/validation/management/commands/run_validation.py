"""`manage.py run_validation`: what rules find in the stored documents becomes results."""

from argparse import ArgumentParser, ArgumentTypeError
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, time
from typing import Any

from django.core.management.base import CommandError

from edfi_api.changes.change_stream.following import retry_on_outage
from edfi_api.data_stores.routing import Store
from edfi_api.management.arguments import add_database, name, text, whole_number
from edfi_api.management.data_store_command import DataStoreCommand
from edfi_api.startup import current_surface
from edfi_api.validation.checking import served
from edfi_api.validation.following import Follower
from edfi_api.validation.request import Request
from edfi_api.validation.rule import Rule
from edfi_api.validation.rule_files import RuleSet, configured_rules
from edfi_api.validation.running import MOST_JOBS, AlreadyRunning, Report, run_rules
from edfi_api.validation.standby import NoReplica, ReplicaLags
from edfi_api.validation.values import UnusableValue

_TEMPORARY_FAILURE = 75  # EX_TEMPFAIL of sysexits.h
_BIGINT = 2**63 - 1
_HEAD = ("rule", "outcome", "seconds", "found", "appeared", "changed", "resolved", "")


class Command(DataStoreCommand):
    """See the module."""

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
            type=whole_number(0, _BIGINT),
            action="append",
            default=[],
            metavar="ID",
            help="only violations in this education organization and those below; repeatable",
        )
        parser.add_argument("--full", action="store_true", help="look at all documents, not only at what changed")
        parser.add_argument(
            "--jobs", type=whole_number(1, MOST_JOBS), default=2, metavar="N", help="rules at a time (default 2)"
        )
        parser.add_argument(
            "--set", type=assignment, action="append", default=[], metavar="NAME=VALUE", help="value of a parameter"
        )
        parser.add_argument("--dry-run", action="store_true", help="print what rules find; nothing is stored")
        parser.add_argument("--replica", action="store_true", help="rules read from the streaming replica")
        parser.add_argument("--follow", action="store_true", help="wait for runs that clients request, and run them")
        parser.add_argument(
            "--at",
            type=time_of_day,
            metavar="HH:MM",
            help="with --follow: run everything daily at this time, in UTC",
        )
        add_database(parser, "the database with the documents")

    def options_for(self, store: Store, options: dict[str, Any]) -> dict[str, Any]:
        if options["follow"]:
            raise CommandError("--follow follows one data store.")
        return options

    def handle(self, *args: Any, database: str, **options: Any) -> None:
        if options["at"] and not options["follow"]:
            raise CommandError("--at needs --follow.")
        if options["follow"] and options["dry_run"]:
            raise CommandError("--follow and --dry-run exclude each other.")
        request = Request(
            rules=frozenset(options["rule"]),
            categories=frozenset(options["category"]),
            organizations=tuple(options["organization"]),
            texts=dict(options["set"]),
            is_full=options["full"] or options["follow"],
            is_rehearsal=options["dry_run"],
            jobs=options["jobs"],
            on_replica=options["replica"],
        )
        found = configured_rules()
        _refuse_unknown(served(found.rules, current_surface()), request)
        if options["follow"]:
            self._follow(request, options["at"], database)
            return
        try:
            is_whole = self._run(found, request, database)
        except AlreadyRunning as error:
            raise CommandError(f"Rules are being run already: {error}.", returncode=_TEMPORARY_FAILURE) from error
        if not is_whole:
            raise CommandError("Not all rules were run completely.")

    def _follow(self, request: Request, at: time | None, database: str) -> None:
        """The files are read again for each run."""
        follower = Follower(
            database,
            run=lambda due: self._run(configured_rules(), due, database),
            report=self.stderr.write,
            nightly=request,
            at=at,
        )
        with suppress(KeyboardInterrupt):
            retry_on_outage(follower.for_ever, database)

    def _run(self, found: RuleSet, request: Request, database: str) -> bool:
        """Whether all rules were run completely."""
        for problem in found.problems:
            self.stderr.write(str(problem))
        rules = served(found.rules, current_surface())
        retires_others = request.retires_others and not found.problems
        try:
            report = run_rules(rules, replace(request, retires_others=retires_others), current_surface(), database)
        except (UnusableValue, NoReplica, ReplicaLags) as error:
            raise CommandError(str(error)) from error
        self._print(report, is_rehearsal=request.is_rehearsal)
        return not report.has_failed and not found.problems

    def _print(self, report: Report, *, is_rehearsal: bool) -> None:
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
        if not is_rehearsal:
            self.stdout.write(f"run {report.identifier}" + ("" if report.is_complete else ", stopped: out of time"))


def time_of_day(given: str) -> time:
    """Hours and minutes."""
    try:
        return datetime.strptime(given, "%H:%M").time()  # noqa: DTZ007  It is in UTC.
    except ValueError:
        raise ArgumentTypeError(f"{given!r} is no time such as 02:00") from None


def assignment(given: str) -> tuple[str, str]:
    """`name=value`."""
    left, equals, value = text(given).partition("=")
    if not equals or not left.isidentifier():
        raise ArgumentTypeError(f"{given!r} is not name=value")
    return left, value


def _refuse_unknown(rules: list[Rule], request: Request) -> None:
    identifiers, categories = {rule.identifier for rule in rules}, {rule.category for rule in rules}
    names = {parameter for rule in rules for parameter in rule.parameters}
    for what, unknown in (
        ("rule", request.rules - identifiers),
        ("category", request.categories - categories),
        ("parameter", request.texts.keys() - names),
    ):
        if unknown:
            raise CommandError(f"There is no {what} {', '.join(sorted(unknown))}.")
