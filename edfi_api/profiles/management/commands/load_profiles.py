"""`load_profiles FILE…`: add and replace API profiles from XML or JSON files; `-` is standard input.

Profiles that the files do not name are left unchanged. Changes are printed to standard output, findings to standard
error, as `FILE:LINE: error: …`. With any error nothing is stored and the exit status is 1.
"""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from edfi_api.logs.printable import printable
from edfi_api.management.arguments import path
from edfi_api.model.profiles.checking import CheckedProfile, ProfileChecker
from edfi_api.model.profiles.findings import Finding, UnreadableDefinition
from edfi_api.profiles.loading import read_definitions, refuses, store_profiles
from edfi_api.security.clients import COMMAND
from edfi_api.startup import current_surface

_STANDARD_INPUT = Path("-")


class Command(BaseCommand):
    """See the module."""

    help = "Load API profiles from XML or JSON files; '-' is standard input."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=path, metavar="FILE")
        parser.add_argument("--valid-only", action="store_true", help="store the profiles without errors")
        parser.add_argument(
            "--accept-warnings", action="store_true", help="store profiles that name members which do not exist"
        )
        parser.add_argument("--dry-run", action="store_true", help="print what would change, and change nothing")

    def handle(
        self, *, files: list[Path], valid_only: bool, accept_warnings: bool, dry_run: bool, **options: Any
    ) -> None:
        checker = ProfileChecker(current_surface())
        checked = [each for file in files for each in self._checked(file, checker)]
        refused = [each for each in checked if refuses(each, accept_warnings=accept_warnings)]
        if refused and not valid_only:
            raise CommandError(f"{_count(len(refused), 'profile')} refused; nothing is stored.")
        sound = [each.definition for each in checked if each not in refused]
        changes = store_profiles(sound, by=COMMAND, is_rehearsal=dry_run)
        for change in changes:
            self.stdout.write(str(change))
        self.stdout.write(f"{_count(len(changes), 'change')}{' would be made' if dry_run else ''}.")
        if refused:
            raise CommandError(f"{_count(len(refused), 'profile')} refused; the others are stored.")

    def _checked(self, file: Path, checker: ProfileChecker) -> list[CheckedProfile]:
        """The checked profiles of a file; prints its findings."""
        try:
            definitions = read_definitions(_content(file))
        except UnreadableDefinition as error:
            self._print(file, error.findings)
            raise CommandError(f"{printable(file)} is no definition of profiles; nothing is stored.") from error
        checked = checker.check_all(definitions)
        self._print(file, [finding for each in checked for finding in each.findings])
        return checked

    def _print(self, file: Path, findings: list[Finding]) -> None:
        for finding in findings:
            place = f"{printable(file)}:{finding.line}" if finding.line else printable(file)
            self.stderr.write(f"{place}: {finding.severity}: {printable(finding.text)}")


def _content(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == _STANDARD_INPUT else file.read_bytes()
    except OSError as error:
        raise CommandError(f"{printable(file)}: {error.strerror}") from error


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
