"""The options that the loading commands share, and how such a load is run and reported."""

import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from edfi_api.common.commands import integer, not_empty, path, text
from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.data_stores.routing import Store
from edfi_api.core.served import current_surface
from edfi_api.features.loading.mapping import Translator, mapping_named
from edfi_api.features.loading.mapping.files import InvalidMapping, LeadsElsewhere, UnknownMapping
from edfi_api.features.loading.renames import NotAPair, Renames, renames
from edfi_api.features.loading.reports.report import (
    RefusalLimit,
    RefusalLog,
    add_strict_and_max_refused,
    raise_failure,
    refused_in_all,
    table,
)
from edfi_api.features.loading.reports.results import LoadResult

_MOST_PROCESSES = 256


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The values of the options of one run."""

    strict: bool
    max_refused: RefusalLimit | None
    report: Path | None
    dry_run: bool
    renames: Renames
    mapping: Translator | None
    skip_rules: bool

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "LoadOptions":
        """Return the options of a load from those of a command that `add_load_options` has extended."""
        return cls(
            options["strict"],
            options["max_refused"],
            options["report"],
            options["dry_run"],
            renames(options["rename"] or ()),
            mapping_of(options["mapping"]),
            options["skip_rules"],
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
        "--skip-rules",
        action="store_true",
        help="do not run the rules of MEADOWLARK_WRITE_RULES; the report says so",
    )
    names = parser.add_mutually_exclusive_group()
    add_mapping(names)
    names.add_argument(
        "--rename",
        type=_pair,
        action="append",
        metavar="OLD=NEW",
        help="load resources and members of another version of the standard under their new names, such as "
        "parents=contacts; may be repeated",
    )


def add_mapping(parser: Any) -> None:
    """Add the option `--mapping`, whose value `mapping_of` reads."""
    parser.add_argument(
        "--mapping",
        type=text,
        metavar="NAME|FILE",
        help="take documents of another data standard: a bundled mapping such as 4.0..5.2, a chain of them such as "
        "3.3.1-b..5.2, or a file; what does not arrive is listed by member",
    )


def add_processes(parser: ArgumentParser) -> None:
    """Add the option `--processes`."""
    parser.add_argument(
        "--processes",
        type=integer(0, _MOST_PROCESSES),
        metavar="N",
        help="processes that prepare documents, and connections that write them; default: one for each processor",
    )


def mapping_of(named: str | None) -> Translator | None:
    """The mapping of the option. Raises CommandError."""
    if named is None:
        return None
    try:
        return mapping_named(named, current_surface())
    except UnknownMapping as error:
        known = ", ".join(error.bundled)
        raise CommandError(
            f"there is no mapping {printable(named)}; bundled are {known}, and chains of them"
        ) from error
    except LeadsElsewhere as error:
        raise CommandError(f"the mapping leads to Ed-Fi {error.to}, but Ed-Fi {error.served} is served") from error
    except InvalidMapping as error:
        raise CommandError("\n".join(printable(str(fault)) for fault in error.faults)) from error
    except OSError as error:
        raise CommandError(f"{printable(named)}: {error.strerror or error}") from error


def with_report_of_its_own(options: dict[str, Any], store: Store) -> dict[str, Any]:
    """The options for one of several data stores: its id is in the name of the report, `report.7.json`."""
    report: Path | None = options["report"]
    return options if report is None else options | {"report": report.with_suffix(f".{store.id}{report.suffix}")}


def run_load(command: BaseCommand, files: int, options: LoadOptions, load: Callable[[RefusalLog], LoadResult]) -> None:
    """Run a load of so many files and report it. Raises CommandError as `raise_failure` does."""
    started = time.monotonic()
    with RefusalLog(command.stderr, options.report, is_strict=options.strict, skips_rules=options.skip_rules) as log:
        result = load(log)
        log.summarize(result, is_dry_run=options.dry_run)
    command.stdout.write("\n".join(table(result)))
    refused = refused_in_all(result, options.report or "the list above; --report FILE has each of them")
    command.stdout.write(f"{counted(files, 'file')} in {time.monotonic() - started:.1f} s{refused}")
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
