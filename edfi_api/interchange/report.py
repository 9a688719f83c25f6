"""A load told to people and to programs: refusals as they come, a table per resource, all of it as JSON."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

import orjson

from edfi_api.interchange.exceptions import StoppedAtRefusal
from edfi_api.interchange.files import named_in_errors
from edfi_api.interchange.results import COLUMNS, LoadResult, Refused
from edfi_api.printable import printable
from edfi_api.surface.resource import ResourceName

_SHOWN = 50
_UNKNOWN = "(unknown)"


class RefusalLog:
    """Is told of each refusal: shows the first ones on the screen, and stops the load if it is strict.

    The JSON report is written refusal by refusal, so that not all need be held in memory, and is whole when the log is
    closed; without a summary where the load was stopped.
    """

    def __init__(self, screen: TextIO, report: Path | None = None, *, is_strict: bool = False) -> None:
        self._screen = screen
        self._report = report.open("w", encoding="utf-8") if report is not None else None
        self._is_strict = is_strict
        self._summary: dict[str, Any] | None = None
        self.count = 0

    def __enter__(self) -> Self:
        self._write('{"refusals": [')
        return self

    def __call__(self, refused: Refused) -> None:
        self._write(("," if self.count else "") + "\n" + _json(_facts(refused)))
        self.count += 1
        if self.count <= _SHOWN:
            self._screen.write(f"{refused}\n")
        if self._is_strict:
            raise StoppedAtRefusal(str(refused))

    def summarise(self, result: LoadResult) -> None:
        """What the report says in the end."""
        self._summary = {
            "resources": [_counts(name, counter) for name, counter in result.counts.items()],
            "total": {column: result.total(outcome) for column, outcome in COLUMNS.items()},
            "unreadableFiles": [_facts(refused) for refused in result.unreadable],
        }

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self.count > _SHOWN:
            self._screen.write(f"... and {self.count - _SHOWN} more refusals\n")
        self._write('],\n"summary": ' + _json(self._summary) + "}\n")
        if self._report is not None:
            with named_in_errors(self._report.name):
                self._report.close()

    def _write(self, text: str) -> None:
        if self._report is not None:
            with named_in_errors(self._report.name):
                self._report.write(text)


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
