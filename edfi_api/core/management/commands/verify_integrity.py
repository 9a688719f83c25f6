"""`manage.py verify_integrity`"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import add_database
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.models import Document
from edfi_api.core.served import current_surface
from edfi_api.core.storage import integrity
from edfi_api.core.storage.integrity import disagreements

_SHOWN = 100


class Command(DataStoreCommand):
    help = (
        "Compares every stored body with its natural key, its aliases, its references and the spelling of its"
        " descriptors. Changes nothing, unless spellings are to be repaired."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_database(parser, "the database to check")
        parser.add_argument(
            "--mend-spelling",
            action="store_true",
            help="before, give descriptors the spelling that most of their documents have, and the other documents too",
        )

    def handle(self, *args: Any, database: str, mend_spelling: bool, **options: Any) -> None:
        found, validators = 0, DocumentValidators(current_surface())
        if mend_spelling:
            repaired = integrity.repair_spelling(validators, database)
            descriptors, documents = (
                counted(repaired.descriptors, "descriptor"),
                counted(repaired.documents, "document"),
            )
            self.stdout.write(f"{descriptors} and {documents} spelt anew")
        for disagreement in disagreements(validators, database):
            found += 1
            if found <= _SHOWN:
                self.stderr.write(str(disagreement))
        if found:
            raise CommandError(f"{counted(found, 'disagreement')} found")
        count = Document.objects.using(database).count()
        agree = "agrees with its rows" if count == 1 else "agree with their rows"
        self.stdout.write(f"{counted(count, 'document')} {agree}")
