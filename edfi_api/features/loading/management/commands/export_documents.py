"""`manage.py export_documents --output backup/`, `manage.py export_documents --resource students | jq ...`"""

import sys
import time
from argparse import ArgumentParser
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import not_empty, text
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.data_stores.routing import Store
from edfi_api.core.served import current_surface
from edfi_api.features.loading.exceptions import ERRORS_OF_JSON_LINES
from edfi_api.features.loading.json_lines.exporting import (
    WriteResource,
    export_documents,
    resources_left_out,
    write_to_folder,
    write_to_stream,
)
from edfi_api.features.loading.json_lines.parquet import into_parquet
from edfi_api.features.loading.json_lines.sources import resource_called
from edfi_api.model.surface.resource import Resource, Surface

_STANDARD_OUTPUT = "-"


class Command(DataStoreCommand):
    error_texts = ERRORS_OF_JSON_LINES
    help = (
        "Exports a consistent snapshot of the documents in load order: as JSON Lines that load_documents reads, or as "
        "Parquet for analytics. A folder gets one file for each resource that has documents, as Parquet for every "
        "resource; files of an earlier export are replaced only when all new ones are complete. On standard output "
        "each line has its resource. A database that loads an export assigns new ids, unless --ids writes those that "
        "clients see, and load_documents --keep-ids reads them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--resource", type=text, action="append", metavar="ENDPOINT", help="export only this resource; repeatable"
        )
        parser.add_argument(
            "--output",
            type=not_empty,
            default=_STANDARD_OUTPUT,
            metavar="FOLDER",
            help="default: -, standard output",
        )
        parser.add_argument(
            "--ids", action="store_true", help="with the ids that clients see, for load_documents --keep-ids"
        )
        parser.add_argument("--format", choices=["jsonl", "parquet"], default="jsonl", help="default: jsonl")

    def options_for(self, store: Store, options: dict[str, Any]) -> dict[str, Any]:
        """Each of several data stores has a folder of its own, named after its id."""
        if options["output"] == _STANDARD_OUTPUT:
            raise CommandError("Several data stores are exported into a folder: --output FOLDER")
        return options | {"output": str(Path(options["output"]) / str(store.id))}

    def handle(
        self, *args: Any, resource: list[str] | None, output: str, ids: bool, format: str, database: str, **options: Any
    ) -> None:
        if ids and format == "parquet":
            raise CommandError("Parquet has no ids to load: --ids is for JSON Lines.")
        started = time.monotonic()
        surface = current_surface()
        chosen = _chosen(surface, resource)
        with _writer(output, format, chosen) as write:
            counts = export_documents(chosen, write, database, has_ids=ids)
        seconds = time.monotonic() - started
        exported = f"{counted(counts.total(), 'document')} of {counted(len(counts), 'resource')}"
        self.stderr.write(f"{exported} in {seconds:.1f} s")
        if resource is None and (left_out := resources_left_out(surface, database)):
            raise CommandError(
                f"left out, because the standard that is served does not have them: {', '.join(left_out)}"
            )


def _chosen(surface: Surface, names: list[str] | None) -> list[Resource]:
    """The named resources, or all, in load order."""
    if names is None:
        return list(surface.resources)
    wanted = {resource_called(surface, name).name for name in names}
    return [resource for resource in surface.resources if resource.name in wanted]


def _writer(output: str, format: str, resources: list[Resource]) -> AbstractContextManager[WriteResource]:
    if format == "parquet" and output == _STANDARD_OUTPUT:
        raise CommandError("Parquet goes into a folder: --output FOLDER")
    if format == "parquet":
        return into_parquet(Path(output), resources)
    return (
        write_to_stream(sys.stdout.buffer) if output == _STANDARD_OUTPUT else write_to_folder(Path(output), resources)
    )
