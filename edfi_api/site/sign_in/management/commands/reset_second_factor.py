"""`reset_second_factor USER`: remove the authenticator and the recovery codes of a user of the admin."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from edfi_api.common.commands import name
from edfi_api.common.logs import audit
from edfi_api.site.sign_in.second_factor import remove


class Command(BaseCommand):
    """See the module."""

    help = (
        "Removes the authenticator and the recovery codes of a user of the admin who has lost both. The sessions for "
        "which they were given end. Where a second factor is required, the next login sets up another one."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", type=name, help="the user name")

    def handle(self, *, user: str, **options: Any) -> None:
        found = User.objects.filter(username=user).first()
        if found is None:
            raise CommandError(f'There is no user "{user}".')
        if not remove(found):
            self.stdout.write(f"{user} has no second factor.")
            return
        audit.log_change("second factor reset", user=user, by="command")
        self.stdout.write(f"The second factor of {user} is removed.")
