"""`manage.py check_model path/to/standard path/to/extension`"""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from edfi_api.apischema.errors import ApiSchemaError
from edfi_api.arguments import path
from edfi_api.conf import api_settings
from edfi_api.metaed import ModelErrors, Problem, check_projects
from edfi_api.metaed.source import read_sources
from edfi_api.startup import compiled, is_api_schema, refuse_text_without_standard
from edfi_api.xsd.files import schema_problems


class Command(BaseCommand):
    help = (
        "Lists everything that is wrong with MetaEd projects as 'file:line:column: message' with the line itself, and "
        "the first thing that is wrong with ApiSchema files as 'file: path: message'. Name the data standard and the "
        "extensions that belong together; MetaEd extensions alone are checked together with the configured standard. "
        "Without PATH the configured projects are checked. The exit status is 1 if there is an error; warnings keep "
        "nothing from being served."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="*", type=path, metavar="PATH", help="a project folder or ApiSchema file")

    def handle(self, *args: Any, paths: list[Path], **options: Any) -> None:
        sources = _with_standard(paths) if paths else api_settings.model_sources
        refuse_text_without_standard(sources)
        problems = _problems(sources, paths or sources)
        errors = [str(problem) for problem in problems if problem.is_error] or _errors_of_the_whole(sources)
        warnings = [str(problem) for problem in problems if not problem.is_error]
        for text in (*warnings, *errors):
            self.stdout.write(text)
        summary = f"{_count(errors, 'error')}, {_count(warnings, 'warning')}"
        if errors:
            raise CommandError(summary)
        self.stdout.write(f"{summary}: {', '.join(str(path) for path in sources)} can be served")


def _with_standard(paths: Sequence[Path]) -> Sequence[Path]:
    """The configured standard as well, if there are only extensions, which cannot be understood without one."""
    projects = read_sources(paths).projects if not any(map(is_api_schema, paths)) else ()
    are_extensions = bool(projects) and all(source.project.is_extension for source in projects)
    return (api_settings.data_standard, *paths) if are_extensions else paths


def _problems(sources: Sequence[Path], asked_for: Sequence[Path]) -> list[Problem]:
    """Those of MetaEd text, without warnings about a standard that nobody asked to have checked."""
    folders = [path for path in sources if not is_api_schema(path)]
    found = check_projects(folders, schema_problems)[1] if folders else ()
    return [p for p in found if p.is_error or any(Path(p.place.file).is_relative_to(path) for path in asked_for)]


def _errors_of_the_whole(sources: Sequence[Path]) -> list[str]:
    """What shows only when all sources are put together."""
    try:
        compiled(sources)
    except ModelErrors as errors:
        return [str(problem) for problem in errors.problems]
    except ApiSchemaError as error:
        return [str(error)]
    return []


def _count(found: Sequence[str], noun: str) -> str:
    return f"{len(found)} {noun}{'' if len(found) == 1 else 's'}"
