"""Reports of a load: refusals on the screen, a table by resource, the JSON report, and the failure of the command."""

from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import TextIOBase
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson
from django.core.management.base import CommandError

from edfi_api.common.logs.printable import counted, printable
from edfi_api.features.loading.files import StoppedAtRefusal, name_in_errors
from edfi_api.features.loading.reports.causes import Cause
from edfi_api.features.loading.reports.results import COLUMNS, REFUSED, LoadResult, Refused
from edfi_api.model.surface.resource import ResourceName

_SHOWN = 50
_RESOURCES_SHOWN = 50
_UNKNOWN = "(unknown)"

_HELP = "load all that can be, then fail if more was refused: a number, or a percentage of the documents, such as 5%%"


@dataclass(frozen=True, slots=True)
class RefusalLimit:
    """A number of documents, or a percentage of all documents in the input."""

    given: str
    number: float
    is_percentage: bool

    def allows(self, refused: int, sent: int) -> bool:
        return refused <= (sent * self.number / 100 if self.is_percentage else self.number)


def refusal_limit(given: str) -> RefusalLimit:
    """The type of the argument: `0`, `100`, `5%`, `0.5%`."""
    text = given.removesuffix("%")
    is_percentage = text != given
    is_number = text.isascii() and (text.replace(".", "", 1) if is_percentage else text).isdecimal()
    if not is_number or (is_percentage and float(text) > 100):
        raise ArgumentTypeError(f"{given!r} is not a number of documents or a percentage such as 5%")
    return RefusalLimit(given, float(text), is_percentage)


def add_strict_and_max_refused(parser: ArgumentParser) -> None:
    """Add both options; they exclude each other."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--strict", action="store_true", help="stop at the first refusal")
    group.add_argument(
        "--max-refused",
        type=refusal_limit,
        metavar="N",
        help=f"{_HELP}; default: any number, as long as a document is accepted",
    )


def add_max_refused(parser: ArgumentParser) -> None:
    """Add `--max-refused` alone, with a default of 0, to commands that should have no refusals."""
    parser.add_argument("--max-refused", type=refusal_limit, default="0", metavar="N", help=f"{_HELP}; default: 0")


class RefusalLog:
    """The log of refusals of a load. It is called with each refusal: shows the first one of each cause on the screen,
    and stops a strict load. At the end, one line for each cause says how much is refused for it.

    The JSON report is written refusal by refusal, to bound memory, and is complete when the log is closed; it has no
    summary if the load was stopped. Its form is described in meadowlark/docs/operate/loading.md.
    """

    def __init__(
        self, screen: TextIOBase, report: Path | None = None, *, is_strict: bool = False, skips_rules: bool = False
    ) -> None:
        self._screen = screen
        self._report = report.open("w", encoding="utf-8") if report is not None else None
        self._is_strict = is_strict
        self._skips_rules = skips_rules
        self._summary: dict[str, Any] | None = None
        self._left_out: dict[str, _LeftOut] = {}
        self._causes: dict[int, Cause] = {}
        self._listed = 0
        self._count = 0

    def __enter__(self) -> Self:
        self._write('{"refusals": [')
        return self

    def __call__(self, refused: Refused) -> None:
        self._write(("," if self._count else "") + "\n" + _json(_facts(refused)))
        self._count += 1
        if self._is_strict:
            raise StoppedAtRefusal(str(refused))
        if self._is_counted_with_others(refused):
            return
        self._listed += 1
        if self._listed <= _SHOWN:
            self._screen.write(f"{refused}\n")

    def summarize(self, result: LoadResult, *, is_dry_run: bool = False) -> None:
        """Set the summary at the end of the report, and show what was tolerated."""
        self._summary = {
            "dryRun": is_dry_run,
            "resources": [_counts(name, counter) for name, counter in result.counts.items()],
            "total": {column: result.total(outcome) for column, outcome in COLUMNS.items()},
            "causes": [_cause_facts(cause) for cause in result.causes],
            "tolerated": [
                {"resource": place.resource, "path": place.path, "reason": place.reason, "count": count}
                for place, count in result.tolerated.by_key.most_common()
            ],
            "replaced": {
                "count": result.replaced.count,
                "documents": [replaced.facts() for replaced in result.replaced.named],
            },
            "rules": {
                "skipped": self._skips_rules,
                "warnings": [
                    {**warning._asdict(), "count": count} for warning, count in result.warnings.by_key.most_common()
                ],
            },
            "mapping": result.unmapped.facts(),
            "unreadableFiles": [_facts(refused) for refused in result.unreadable],
        }
        shown = (result.tolerated.lines(_SHOWN), result.warnings.lines(_SHOWN), result.replaced.lines(_SHOWN))
        for line in chain(*shown, result.unmapped.lines()):
            self._screen.write(f"{line}\n")
        if self._skips_rules:
            self._screen.write("rules of writes were not run; validate_documents runs them over what is stored\n")

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._listed > _SHOWN:
            self._screen.write(f"... and {self._listed - _SHOWN:,} more refusals\n")
        repeated = sorted((cause for cause in self._causes.values() if cause.count > 1), key=lambda cause: -cause.count)
        for line in (*self._left_out.values(), *repeated[:_SHOWN]):
            self._screen.write(f"{line}\n")
        self._write('],\n"summary": ' + _json(self._summary) + "}\n")
        if self._report is not None:
            with name_in_errors(self._report.name):
                self._report.close()

    def _is_counted_with_others(self, refused: Refused) -> bool:
        """Return whether a line at the end includes this refusal, so that it is not listed. The first of each cause is
        listed. Refusals of unknown resources are not, up to a number of resources: names are arbitrary text."""
        if refused.is_of_no_resource and self._is_left_out(refused):
            return True
        cause = refused.cause
        if cause is None:
            return False
        is_known = cause.number in self._causes
        self._causes[cause.number] = cause
        return is_known

    def _is_left_out(self, refused: Refused) -> bool:
        if refused.reason not in self._left_out and len(self._left_out) == _RESOURCES_SHOWN:
            return False
        self._left_out.setdefault(refused.reason, _LeftOut(refused)).count += 1
        return True

    def _write(self, text: str) -> None:
        if self._report is not None:
            with name_in_errors(self._report.name):
                self._report.write(text)


@dataclass(slots=True)
class _LeftOut:
    """Documents of a resource that the API does not have."""

    first: Refused
    count: int = 0

    def __str__(self) -> str:
        documents = counted(self.count, "document")
        return printable(f"{self.first.reason}; {documents} left out, the first at {self.first.place}")


def raise_failure(result: LoadResult, files: int, limit: RefusalLimit | None) -> None:
    """CommandError if a file could not be read to its end, or more was refused than the limit allows; without a limit,
    if nothing was accepted."""
    refused, sent = result.total(REFUSED), result.sent
    reasons = []
    if result.unreadable:
        reasons.append(f"{len(result.unreadable)} of {files} files could not be read to their end")
    if limit is None and sent and refused == sent:
        reasons.append(f"nothing was accepted: {refused:,} of {sent:,} documents refused")
    if limit is not None and not limit.allows(refused, sent):
        reasons.append(f"{refused:,} of {sent:,} documents refused, more than --max-refused {limit.given}")
    if reasons:
        raise CommandError("; ".join(reasons))


def refused_in_all(result: LoadResult, where: Path | str) -> str:
    """Return how much was refused, and where that is listed, as the end of a line; nothing without refusals."""
    refused = result.total(REFUSED)
    return f"; {refused:,} refused, see {where}" if refused else ""


def counts(result: LoadResult) -> str:
    """The totals of all resources, in one line."""
    totals = ", ".join(f"{result.total(outcome)} {column}" for column, outcome in COLUMNS.items())
    return f"{totals}, see the list above" if result.total(REFUSED) else totals


def table(result: LoadResult, columns: Mapping[str, str] = COLUMNS) -> Iterator[str]:
    """The lines of a table: a row per resource in the order of loading, and the sum; `columns` are outcomes by name."""
    rows = [(name.resource if name else _UNKNOWN, counter) for name, counter in result.counts.items()]
    width = max([len(name) for name, _ in rows], default=len(_UNKNOWN))
    yield " " * width + "".join(f"{column:>11}" for column in columns)
    for name, counter in rows:
        yield f"{name:<{width}}" + "".join(f"{counter[outcome]:>11}" for outcome in columns.values())
    yield f"{'total':<{width}}" + "".join(f"{result.total(outcome):>11}" for outcome in columns.values())


def _facts(refused: Refused) -> dict[str, Any]:
    return {
        "file": printable(refused.file),
        "line": refused.line,
        "resource": refused.resource.resource if refused.resource else None,
        "reason": refused.reason,
        "cause": refused.cause.number if refused.cause else None,
    }


def _cause_facts(cause: Cause) -> dict[str, Any]:
    return {
        "number": cause.number,
        "resource": cause.resource,
        "reason": cause.reason or None,
        "isAbsence": cause.is_absence,
        "absent": cause.absent,
        "direct": cause.direct,
        "following": cause.following,
        "followingByResource": dict(cause.by_resource.most_common()),
        "first": printable(cause.first),
    }


def _counts(name: ResourceName | None, counter: Counter[str]) -> dict[str, Any]:
    named = {"project": name.project if name else None, "resource": name.resource if name else None}
    return named | {column: counter[outcome] for column, outcome in COLUMNS.items()}


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
