"""`manage.py run_schedule`: starts commands when they are due."""

import shlex
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand, CommandError

from edfi_api.site.schedule.models import ScheduledCommand
from edfi_api.site.schedule.scheduler import Scheduler


class Command(BaseCommand):
    help = (
        "Starts the commands of MEADOWLARK_SCHEDULE when they are due, until it gets SIGTERM or Ctrl-C, which it "
        "passes on. It may run on several hosts: each command is started by one of them, and never while it is still "
        "running. make run and docker/compose.yaml run it themselves; each command may be run by cron instead."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--list", dest="is_listed", action="store_true", help="print the schedule, and how each command ended last"
        )

    def handle(self, *args: Any, is_listed: bool, **options: Any) -> None:
        for entry in settings.SCHEDULE:
            _refuse_unusable(entry.command)
        if is_listed:
            self._list()
            return
        Scheduler(settings.SCHEDULE).run()

    def _list(self) -> None:
        known = {row.entry: row for row in ScheduledCommand.objects.all()}
        for entry in settings.SCHEDULE:
            self.stdout.write(f"{entry}: {_last(known.get(str(entry)))}")


def _refuse_unusable(command: str) -> None:
    """Raises CommandError if there is no such command, or it does not take these arguments."""
    try:
        name, *arguments = shlex.split(command)
    except ValueError as error:
        raise CommandError(f"MEADOWLARK_SCHEDULE: {command!r} has a quotation without an end.") from error
    app = get_commands().get(name)
    if app is None or name == "run_schedule":
        raise CommandError(f"MEADOWLARK_SCHEDULE: there is no command {name!r} that can be scheduled.")
    try:
        load_command_class(app, name).create_parser("manage.py", name).parse_args(arguments)
    except CommandError as error:
        raise CommandError(f"MEADOWLARK_SCHEDULE: {command!r}: {error}") from error


def _last(row: ScheduledCommand | None) -> str:
    if row is None or not row.host:
        return "not started yet"
    ended = f"{row.get_outcome_display()} at {row.ended_at:%Y-%m-%d %H:%M:%S}" if row.ended_at else "not ended yet"
    return f"started at {row.claimed_at:%Y-%m-%d %H:%M:%S} by {row.host}; {ended}"
