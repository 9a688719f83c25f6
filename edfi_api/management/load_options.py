"""The options that the loading commands share, and how such a load is run and reported."""

import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from edfi_api.data_stores.routing import Store
from edfi_api.loading.interchange.refusal_limit import RefusalLimit, add_strict_and_max_refused
from edfi_api.loading.interchange.report import RefusalLog, raise_failure, table
from edfi_api.loading.interchange.results import LoadResult
from edfi_api.loading.renames import NotAPair, Renames, renames
from edfi_api.management.arguments import not_empty, path


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The values of the options of one run."""

    strict: bool
    max_refused: RefusalLimit | None
    report: Path | None
    dry_run: bool
    renames: Renames

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "LoadOptions":
        """From the options of a command that `add_load_options` has extended."""
        return cls(
            options["strict"],
            options["max_refused"],
            options["report"],
            options["dry_run"],
            renames(options["rename"] or ()),
        )


def add_load_options(parser: ArgumentParser) -> None:
    """Add the options that `LoadOptions.of` reads."""
    add_strict_and_max_refused(parser)
    parser.add_argument(
        "--report", type=path, metavar="FILE", help="write refusals, their causes and the counts as JSON"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="report what a load would create, update and refuse, and write nothing; documents are not locked",
    )
    parser.add_argument(
        "--rename",
        type=_pair,
        action="append",
        metavar="OLD=NEW",
        help="load resources and members of another version of the standard under their new names, such as "
        "parents=contacts; may be repeated",
    )


def with_report_of_its_own(options: dict[str, Any], store: Store) -> dict[str, Any]:
    """The options for one of several data stores: its id is in the name of the report, `report.7.json`."""
    report: Path | None = options["report"]
    return options if report is None else options | {"report": report.with_suffix(f".{store.id}{report.suffix}")}


def run_load(command: BaseCommand, files: int, options: LoadOptions, load: Callable[[RefusalLog], LoadResult]) -> None:
    """Run a load of so many files and report it. Raises CommandError as `raise_failure` does."""
    started = time.monotonic()
    with RefusalLog(command.stderr, options.report, is_strict=options.strict) as log:
        result = load(log)
        log.summarise(result, is_dry_run=options.dry_run)
    command.stdout.write("\n".join(table(result)))
    command.stdout.write(f"{files} files in {time.monotonic() - started:.1f} s")
    if options.dry_run:
        command.stdout.write("dry run: nothing was written")
    if not result.sent and not result.unreadable:
        command.stderr.write("nothing was loaded: there is no document in the files")
    raise_failure(result, files, options.max_refused)


def _pair(given: str) -> str:
    try:
        renames([not_empty(given)])
    except NotAPair as error:
        raise ArgumentTypeError(f"{given!r} is not a pair such as parents=contacts") from error
    return given
