"""`manage.py export_api_schema --output ApiSchema.json`"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError

from edfi_api.common.commands import path
from edfi_api.core.served import current_surface
from edfi_api.model.apischema.writer import api_schema
from edfi_api.model.surface.resource import ProjectFacts, Surface


class Command(BaseCommand):
    help = (
        "Writes the configured projects in Ed-Fi's ApiSchema format (version 1.0), which Ed-Fi's own API servers and "
        "this server read. The format has one file for each project: --output ApiSchema.json is the file of the data "
        "standard, with ApiSchema-NAME.json next to it for each extension. Without --output the data standard is "
        "printed, if it is the only project. Of the OpenAPI parts only the skeletons are written, which Ed-Fi's server "
        "requires; paths and schemas follow from the rest."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--output", type=path, metavar="FILE", help="default: standard output")

    def handle(self, *args: Any, output: Path | None, **options: Any) -> None:
        surface = current_surface()
        if output is not None:
            self._write(surface, output)
        elif len(surface.projects) == 1:
            self.stdout.write(_content(surface, surface.core_project).decode())
        else:
            names = ", ".join(project.name for project in surface.projects)
            raise CommandError(f"{names} need a file each: say --output ApiSchema.json")

    def _write(self, surface: Surface, output: Path) -> None:
        for project in surface.projects:
            file = output.with_stem(f"{output.stem}-{project.name}") if project.is_extension else output
            try:
                file.write_bytes(_content(surface, project))
            except OSError as error:
                raise CommandError(f"{file}: {error.strerror}") from error
            self.stdout.write(f"{file}: {project.name} {project.version}")


def _content(surface: Surface, project: ProjectFacts) -> bytes:
    return orjson.dumps(api_schema(surface, project), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
