"""`load_profiles FILE…`: add and replace API profiles from XML or JSON files; `-` is standard input.

Profiles that the files do not name are left unchanged. Changes are printed to standard output, findings to standard
error, as `FILE:LINE: error: …`. With any error nothing is stored and the exit status is 1.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import ReportingCommand, path
from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.data_stores.data_store_command import add_tenant, given_tenant
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.security.clients import COMMAND
from edfi_api.core.security.profiles.loading import NotOfTheTenant, is_fatal, read_definitions, refuses, store_profiles
from edfi_api.core.served import current_surface
from edfi_api.model.profiles.checking import CheckedProfile, ProfileChecker
from edfi_api.model.profiles.definition import Finding, FindingSeverity, ProfileDefinition, UnreadableDefinition

_STANDARD_INPUT = Path("-")


class Command(ReportingCommand):
    """See the module."""

    error_texts = {NotOfTheTenant: lambda error: f"Nothing is stored: {error}."}
    help = "Loads API profiles from XML or JSON files; '-' is standard input."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=path, metavar="FILE", help="XML or JSON file of API profiles")
        parser.add_argument(
            "--valid-only", action="store_true", help="store the profiles without errors, although others have some"
        )
        parser.add_argument(
            "--accept-warnings",
            action="store_true",
            help="store profiles that name members which do not exist, or under ExcludeOnly by rules that hide nothing",
        )
        add_tenant(parser, "tenant whose profiles they are; without, they are shared by all tenants")
        parser.add_argument("--dry-run", action="store_true", help="print what would change, and change nothing")

    def handle(
        self, *, files: list[Path], valid_only: bool, accept_warnings: bool, dry_run: bool, **options: Any
    ) -> None:
        tenant = given_tenant(options)
        read = [_read(file) for file in files]
        checked = ProfileChecker(current_surface()).check_all([each for file in read for each in file.definitions])
        refused = [each for each in checked if refuses(each, accept_warnings=accept_warnings)]
        wrong = len(refused) + sum(bool(file.problems) for file in read)
        if not wrong or valid_only:
            self._store([each.definition for each in checked if each not in refused], tenant, is_dry_run=dry_run)
        found = iter(checked)
        for file in read:
            findings = [*file.problems, *_findings(islice(found, len(file.definitions)))]
            self._print(file.path, findings, accept_warnings=accept_warnings)
        if wrong:
            others = "the others are stored" if valid_only and not dry_run else "nothing is stored"
            raise CommandError(f"{_refused(len(refused), wrong - len(refused))} refused; {others}.")

    def _store(self, definitions: list[ProfileDefinition], tenant: Tenant | None, *, is_dry_run: bool) -> None:
        changes = store_profiles(definitions, by=COMMAND, tenant=tenant, is_dry_run=is_dry_run)
        for change in changes:
            self.stdout.write(str(change))
        self.stdout.write(f"{counted(len(changes), 'change')}{' would be made' if is_dry_run else ''}.")

    def _print(self, file: Path, findings: list[Finding], *, accept_warnings: bool) -> None:
        for finding in findings:
            place = f"{printable(file)}:{finding.line}" if finding.line else printable(file)
            severity, text = finding.severity, printable(finding.text)
            if severity is not FindingSeverity.ERROR and is_fatal(finding, accept_warnings):
                severity, text = FindingSeverity.ERROR, f"{text} With --accept-warnings it is a warning."
            self.stderr.write(f"{place}: {severity}: {text}")


@dataclass(frozen=True)
class _File:
    """A file with its definitions, or with the problems for which it has none."""

    path: Path
    definitions: list[ProfileDefinition] = field(default_factory=list)
    problems: list[Finding] = field(default_factory=list)


def _read(file: Path) -> _File:
    try:
        return _File(file, read_definitions(_content(file)))
    except UnreadableDefinition as error:
        return _File(file, problems=error.findings)


def _findings(checked: Iterable[CheckedProfile]) -> Iterator[Finding]:
    return (finding for each in checked for finding in each.findings)


def _content(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == _STANDARD_INPUT else file.read_bytes()
    except OSError as error:
        raise CommandError(f"{printable(file)}: {error.strerror}") from error


def _refused(profiles: int, files: int) -> str:
    counts = ((profiles, "profile"), (files, "file"))
    return " and ".join(counted(number, what) for number, what in counts if number)
