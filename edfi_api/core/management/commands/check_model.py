"""`manage.py check_model 5.2 path/to/extension`"""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from edfi_api.common.commands import not_empty
from edfi_api.common.conf import api_settings, bundled_standards, source_path
from edfi_api.common.logs.printable import counted
from edfi_api.core.served import compiled, is_api_schema, refuse_text_without_standard
from edfi_api.model.apischema.format import ApiSchemaError
from edfi_api.model.metaed.compiler import check_projects
from edfi_api.model.metaed.errors import ModelErrors, Problem
from edfi_api.model.metaed.source import read_sources
from edfi_api.model.xsd.files import schema_problems


class Command(BaseCommand):
    help = (
        "Lists everything that is wrong with MetaEd projects as 'file:line:column: message' with the line itself, and "
        "the first thing that is wrong with ApiSchema files as 'file: path: message'. Name the data standard and the "
        "extensions that belong together; MetaEd extensions alone are checked together with the configured standard. "
        "Without PATH the configured projects are checked. Where there are extensions, warnings about the standard "
        "itself are only counted. The exit status is 1 if there is an error; projects with warnings can be served."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "paths",
            nargs="*",
            type=model_source,
            metavar="PATH",
            help="a project folder, an ApiSchema file, or the name of a bundled standard such as 5.2",
        )
        parser.add_argument("--all", action="store_true", help="list the warnings about the standard itself too")

    def handle(self, *args: Any, paths: list[Path], all: bool, **options: Any) -> None:
        sources = _with_standard(paths) if paths else api_settings.model_sources
        refuse_text_without_standard(sources)
        folders = [path for path in sources if not is_api_schema(path)]
        problems = check_projects(folders, schema_problems)[1] if folders else ()
        errors = [str(problem) for problem in problems if problem.is_error]
        warnings = [problem for problem in problems if not problem.is_error]
        of_standard = set() if all else set(_about_the_standard(warnings, sources))
        texts = [str(warning) for warning in warnings if warning not in of_standard]
        if not errors:
            errors, more_warnings = _problems_of_the_whole(sources)
            texts += more_warnings
        for text in (*texts, *errors):
            self.stdout.write(text)
        if of_standard:
            self.stdout.write(
                f"{counted(len(of_standard), 'warning')} about the data standard itself; --all lists them"
            )
        summary = f"{counted(len(errors), 'error')}, {counted(len(texts), 'warning')}"
        if errors:
            raise CommandError(summary)
        self.stdout.write(f"{summary}: {', '.join(str(path) for path in sources)} can be served")


def model_source(given: str) -> Path:
    """A path, or the name of a bundled standard. ArgumentTypeError for a bare name that is neither."""
    path = source_path(not_empty(given))
    if path == Path(path.name) and not path.exists():
        raise ArgumentTypeError(f"{given!r}: no such folder or file; bundled are: {', '.join(bundled_standards())}")
    return path


def _with_standard(paths: Sequence[Path]) -> Sequence[Path]:
    """The sources with the configured standard added if they are all extensions, which need one."""
    projects = read_sources(paths).projects if not any(map(is_api_schema, paths)) else ()
    are_extensions = bool(projects) and all(source.project.is_extension for source in projects)
    return (api_settings.data_standard, *paths) if are_extensions else paths


def _about_the_standard(problems: Iterable[Problem], sources: Sequence[Path]) -> Iterator[Problem]:
    """Problems in files of the standard, if extensions are checked: their authors cannot fix these."""
    folders = [path for path in sources if not is_api_schema(path)]
    projects = read_sources(folders).projects
    has_extensions = len(folders) < len(sources) or any(source.project.is_extension for source in projects)
    deepest_first = sorted(projects, key=lambda source: len(source.folder.parts), reverse=True)
    for problem in problems if has_extensions else ():
        file = Path(problem.place.file)
        holder = next((source.project for source in deepest_first if file.is_relative_to(source.folder)), None)
        if holder is not None and not holder.is_extension:
            yield problem


def _problems_of_the_whole(sources: Sequence[Path]) -> tuple[list[str], list[str]]:
    """Errors and warnings that only appear when all sources are combined."""
    try:
        return [], list(compiled(sources).warnings)
    except ModelErrors as errors:
        return [str(problem) for problem in errors.problems if problem.is_error], []
    except ApiSchemaError as error:
        return [str(error)], []
