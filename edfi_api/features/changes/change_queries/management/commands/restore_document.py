"""`manage.py restore_document`"""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from edfi_api.common.commands import add_database
from edfi_api.common.logs import audit
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.features.changes.change_queries.restoring import CannotRestore, restore


class Command(DataStoreCommand):
    takes_several = False
    help = "Restores deleted documents under their former ids, if their references resolve and their keys are free."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ids", nargs="+", type=UUID, metavar="ID", help="the id of the document in the API")
        add_database(parser, "the database to write to")

    def handle(self, *args: Any, ids: list[UUID], database: str, **options: Any) -> None:
        refused = 0
        for id_ in ids:
            try:
                restore(id_, database)
                audit.log_change("document restored", document=id_, by="command")
                self.stdout.write(f"{id_} restored")
            except CannotRestore as refusal:
                refused += 1
                self.stderr.write("\n".join([f"{id_} cannot be restored:", *(f"  {each}" for each in refusal.reasons)]))
        if refused:
            raise CommandError(f"{refused} of {len(ids)} not restored")
