"""`load_claim_sets FILE`: load resource claims and claim sets from files.

`edfi_api/core/security/claims/file.py` describes the file format. Claims and claim sets that the files do not mention
are left unchanged. Every change is printed; `--dry-run` prints the changes without making them. A file is refused as a
whole if it names strategies that do not exist, custom views that the database does not have, or custom views for
resources that do not refer to the view's basis.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import ReportingCommand, path
from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.data_stores.data_store_command import add_tenant, given_tenant
from edfi_api.core.security.claims.file import UnusableClaimsFile, bundled_claims, read_claims
from edfi_api.core.security.claims.model import ClaimNames, Claims, spelt_in_full
from edfi_api.core.security.claims.stored_claims import NotOfTheTenant, UnknownClaims, load, reserve, stored_names
from edfi_api.core.security.claims.validation import (
    advice_on_views,
    all_unknown_in,
    unknown_in,
    views_without_a_way,
)
from edfi_api.core.security.clients import COMMAND
from edfi_api.core.served import current_surface


class Command(ReportingCommand):
    """See the module."""

    error_texts = {UnknownClaims: str, NotOfTheTenant: str}
    help = "Loads claim sets, and resource claims with their default strategies, from JSON files."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "files", nargs="*", type=path, metavar="FILE", help="JSON file of claim sets or resource claims"
        )
        parser.add_argument("--bundled", action="store_true", help="load the bundled claims before the files")
        add_tenant(parser, "tenant whose claim sets they are; without, they are shared by all tenants")
        parser.add_argument("--dry-run", action="store_true", help="print what would change, and change nothing")

    def handle(self, *, files: list[Path], bundled: bool, dry_run: bool, **options: Any) -> None:
        tenant = given_tenant(options)
        if not files and not bundled:
            raise CommandError("Name a file, or say --bundled.")
        of_server = bundled_claims(current_surface()) if bundled else Claims()
        wanted = of_server
        for file in files:
            wanted = wanted.and_also(_read(file))
        change = load(wanted, COMMAND, tenant=tenant, is_dry_run=dry_run)
        if not dry_run:
            reserve(of_server.claim_sets)
        for line in change.lines:
            self.stdout.write(line)
        if change.left_out:
            self.stdout.write(f"Left out, as there are no such resources: {', '.join(change.left_out)}")
        self.stdout.write(f"{counted(len(change.lines), 'change')}{' would be made' if dry_run else ''}.")


def _read(file: Path) -> Claims:
    try:
        claims = spelt_in_full(read_claims(file.read_bytes()), ClaimNames(current_surface(), stored_names()))
    except OSError as error:
        raise CommandError(f"{printable(file)}: {error.strerror}") from error
    except UnusableClaimsFile as error:
        raise CommandError(f"{file}: {error}") from error
    if unknown := unknown_in(claims, current_surface()):
        advice = advice_on_views(all_unknown_in(claims, current_surface()))
        raise CommandError(f"{file}: there are no such strategies: {'; '.join(unknown)}.{advice}")
    if lost := views_without_a_way(claims, current_surface()):
        raise CommandError(f"{file}: nothing leads to the basis of the view: {'; '.join(lost)}")
    return claims
