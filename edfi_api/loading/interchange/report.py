"""Reports of a load: refusals on the screen, a table by resource, the JSON report, and the failure of the command."""

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson
from django.core.management.base import CommandError

from edfi_api.loading.interchange.exceptions import StoppedAtRefusal
from edfi_api.loading.interchange.files import named_in_errors
from edfi_api.loading.interchange.refusal_limit import RefusalLimit
from edfi_api.loading.interchange.results import COLUMNS, REFUSED, LoadResult, Refused
from edfi_api.logs.printable import printable
from edfi_api.model.surface.resource import ResourceName

_SHOWN = 50
# Reasons by which refusals are counted together, and those of them that are shown.
_MOST_REASONS = 1000
_RESOURCES_SHOWN = 50
_UNKNOWN = "(unknown)"


class RefusalLog:
    """Called with each refusal: shows the first ones on the screen, and stops a strict load. Documents that are refused
    for the same reason are counted and shown in one line at the end.

    The JSON report is written refusal by refusal, to bound memory, and is complete when the log is closed; it has no
    summary if the load was stopped.
    """

    def __init__(self, screen: TextIOBase, report: Path | None = None, *, is_strict: bool = False) -> None:
        self._screen = screen
        self._report = report.open("w", encoding="utf-8") if report is not None else None
        self._is_strict = is_strict
        self._summary: dict[str, Any] | None = None
        self._left_out: dict[str, _Alike] = {}
        self._alike: dict[tuple[ResourceName | None, str], _Alike] = {}
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

    def summarise(self, result: LoadResult) -> None:
        """Set the summary at the end of the report."""
        self._summary = {
            "resources": [_counts(name, counter) for name, counter in result.counts.items()],
            "total": {column: result.total(outcome) for column, outcome in COLUMNS.items()},
            "unreadableFiles": [_facts(refused) for refused in result.unreadable],
        }

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._listed > _SHOWN:
            self._screen.write(f"... and {self._listed - _SHOWN:,} more refusals\n")
        repeated = sorted((alike for alike in self._alike.values() if alike.count > 1), key=lambda alike: -alike.count)
        for alike in (*self._left_out.values(), *repeated[:_SHOWN]):
            self._screen.write(f"{alike}\n")
        self._write('],\n"summary": ' + _json(self._summary) + "}\n")
        if self._report is not None:
            with named_in_errors(self._report.name):
                self._report.close()

    def _is_counted_with_others(self, refused: Refused) -> bool:
        """Whether a summary line at the end includes this refusal, so that it is not listed. The first of each reason
        is listed. Refusals of unknown resources are not, up to a number of resources: names are arbitrary text."""
        if refused.is_of_no_resource:
            return _counted(self._left_out, refused.reason, refused, _RESOURCES_SHOWN) > 0
        return _counted(self._alike, (refused.resource, refused.reason), refused, _MOST_REASONS) > 1

    def _write(self, text: str) -> None:
        if self._report is not None:
            with named_in_errors(self._report.name):
                self._report.write(text)


@dataclass(slots=True)
class _Alike:
    """Documents of one resource that are refused for the same reason."""

    first: Refused
    count: int = 0

    def __str__(self) -> str:
        documents = "document" if self.count == 1 else "documents"
        if self.first.is_of_no_resource:
            return printable(
                f"{self.first.reason}; {self.count:,} {documents} left out, the first at {self.first.place}"
            )
        name = f"{self.first.resource.resource}: " if self.first.resource else ""
        return printable(
            f"{name}{self.first.reason}; {self.count:,} {documents} alike, the first at {self.first.place}"
        )


def _counted(groups: dict[Any, _Alike], key: Hashable, refused: Refused, most: int) -> int:
    """How many refusals have this key, this one included; 0 if there are too many keys to count it."""
    if key not in groups and len(groups) == most:
        return 0
    group = groups.setdefault(key, _Alike(refused))
    group.count += 1
    return group.count


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


def counts(result: LoadResult) -> str:
    """The totals of all resources, in one line."""
    return ", ".join(f"{result.total(outcome)} {column}" for column, outcome in COLUMNS.items())


def table(result: LoadResult) -> Iterator[str]:
    """The lines of a table: a row per resource in the order of loading, and the sum."""
    rows = [(name.resource if name else _UNKNOWN, counter) for name, counter in result.counts.items()]
    width = max([len(name) for name, _ in rows], default=len(_UNKNOWN))
    yield " " * width + "".join(f"{column:>11}" for column in COLUMNS)
    for name, counter in rows:
        yield f"{name:<{width}}" + "".join(f"{counter[outcome]:>11}" for outcome in COLUMNS.values())
    yield f"{'total':<{width}}" + "".join(f"{result.total(outcome):>11}" for outcome in COLUMNS.values())


def _facts(refused: Refused) -> dict[str, Any]:
    return {
        "file": printable(refused.file),
        "line": refused.line,
        "resource": refused.resource.resource if refused.resource else None,
        "reason": refused.reason,
    }


def _counts(name: ResourceName | None, counter: Counter[str]) -> dict[str, Any]:
    named = {"project": name.project if name else None, "resource": name.resource if name else None}
    return named | {column: counter[outcome] for column, outcome in COLUMNS.items()}


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
