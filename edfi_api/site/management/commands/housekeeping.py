"""`manage.py housekeeping`: what has to be done once a day."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, InterfaceError

from edfi_api.common.conf import api_settings
from edfi_api.common.contributions import contributions
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.data_stores.models import State
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.management.commands import index_names
from edfi_api.core.security.clients import remove_expired_links
from edfi_api.core.security.management.commands import index_owners


class Command(BaseCommand):
    help = (
        "Removes what is no longer needed: old versions and the bodies of documents deleted long ago (purge_changes), "
        "old refusals (purge_refusals), what clients did long ago (purge_runs), results of validation that were "
        "resolved (purge_validation), the trace of old questions (purge_questions), sandboxes that ended a week ago "
        "(drop_ended_sandboxes), uploaded tables and their reports (purge_tables), expired tokens (cleartokens), "
        "links to secrets that no one used in time (secret_links), and expired sessions of the admin (clearsessions). "
        "Builds or drops the index of owners, as claim sets need it (index_owners), and builds the index of names, if "
        "it is not there (index_names). To be run once a day, as the default of MEADOWLARK_SCHEDULE does. Several may "
        "run at a time. The exit status is 1 if a step failed, after the others were tried."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        steps: dict[str, Callable[[], object]] = {
            **{_name(command): partial(self._run, command()) for command in contributions("housekeeping")},
            "cleartokens": lambda: call_command("cleartokens"),
            "secret_links": remove_expired_links,
            "clearsessions": lambda: call_command("clearsessions"),
            "index_owners": lambda: self._run(index_owners.Command()),
            "index_names": lambda: self._run(index_names.Command()),
        }
        failed = [name for name, step in steps.items() if not self._succeeds(name, step)]
        if failed:
            raise CommandError(f"housekeeping failed: {', '.join(failed)}")

    def _run(self, command: BaseCommand) -> None:
        """Run the command. One about documents runs in the admin database, if it has documents, and in all data stores
        that are online."""
        is_about_documents = isinstance(command, DataStoreCommand)
        if api_settings.has_main_store or not is_about_documents:
            call_command(command, stdout=self.stdout)
        if is_about_documents and any(store.state is State.ONLINE for store in read_table().stores.values()):
            call_command(command, all_data_stores=True, stdout=self.stdout)

    def _succeeds(self, name: str, step: Callable[[], object]) -> bool:
        try:
            step()
        except (CommandError, DatabaseError, InterfaceError) as error:
            self.stderr.write(f"{name}: {' '.join(str(error).split())}")
            return False
        self.stdout.write(f"{name}: done")
        return True


def _name(command: type[BaseCommand]) -> str:
    return command.__module__.rpartition(".")[2]
