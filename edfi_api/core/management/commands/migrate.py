"""`manage.py migrate`, while requests are served: Django's command, whose migrations wait for locks in turns.

What was applied before a lock was not free stays applied, since each migration is a transaction; the next turn goes on
after it. At the end it builds the index of names, and brings the index of owners in line with the claim sets, which
are in the admin database; `housekeeping` does both for data stores.
"""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.core.queries import name_index
from edfi_api.core.security.strategies import ownership
from edfi_api.core.storage.driver.lock_turns import LocksNotFree, WaitsLimited, run_in_turns


class Command(migrate.Command):
    """See the module."""

    help = "Applies the migrations of this version. While requests are served, it waits for locks in turns of a second."

    def handle(self, *args: Any, **options: Any) -> None:
        using = options["database"]
        try:
            with connections[using].execute_wrapper(WaitsLimited()):
                run_in_turns(lambda: super(Command, self).handle(*args, **options), using)
        except LocksNotFree as error:
            raise CommandError("\n".join(["not all migrations are applied:", *map(str, error.args)])) from error
        applies_all = options["app_label"] is None and not options["plan"] and not options["check_unapplied"]
        if not applies_all or connections[using].in_atomic_block:
            return
        done = [name_index.synchronize(using)]
        if using == DEFAULT_DB_ALIAS:
            done.append(ownership.synchronize_index(using))
        if options["verbosity"]:
            for line in filter(None, done):
                self.stdout.write(line)
