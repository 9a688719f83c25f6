"""The one door to what this process serves: settings → model → surface and XML schemas, once.

Called at the edges only (wsgi, urls, checks, commands); inner functions are handed the `Resource`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from edfi_api import apischema, xsd
from edfi_api.apischema.reader import check_api_schemas
from edfi_api.conf import api_settings
from edfi_api.documents import resource_types
from edfi_api.metaed.compiler import compile_projects
from edfi_api.metaed.source import read_sources
from edfi_api.surface.builder import build_surface
from edfi_api.surface.cache import CODE_PACKAGES, load_or_build
from edfi_api.surface.resource import Surface
from edfi_api.xsd.files import SchemaFiles, schema_files


@dataclass(frozen=True)
class Compilation:
    """All that follows from the model, which itself is not kept, and what is doubtful about ApiSchema files."""

    surface: Surface
    schema_files: SchemaFiles
    warnings: tuple[str, ...] = ()


@cache
def current_compilation() -> Compilation:
    """What is compiled from the configured projects.

    `ModelErrors` names every problem of MetaEd text, `ApiSchemaError` the first one of an ApiSchema file, and
    `ImproperlyConfigured` says what is wrong with the settings.
    """
    return compilation_of(api_settings.model_sources, api_settings.CACHE_DIR)


def current_surface() -> Surface:
    """The surface of the configured projects. Raises what `current_compilation` does."""
    return current_compilation().surface


def compilation_of(sources: Sequence[Path], cache_dir: Path | None) -> Compilation:
    """From the cache, if there is a folder for it and it is up to date."""
    return load_or_build(Compilation, sources, cache_dir, build=compiled, code=(*CODE_PACKAGES, apischema, xsd))


def compiled(sources: Sequence[Path]) -> Compilation:
    """MetaEd projects are compiled together; what ApiSchema files say joins their surface.

    XML schemas are made of MetaEd text alone: ApiSchema files do not say in which order elements were declared. They
    are made here, in a twelfth of the time that compiling takes, because a surface from the cache has no model, and
    files made later could be those of a text that has changed since.
    """
    refuse_text_without_standard(sources)
    files, folders = [path for path in sources if is_api_schema(path)], _folders(sources)
    if not folders:
        surface, warnings = check_api_schemas(files)
        return Compilation(surface, SchemaFiles(), warnings)
    model = compile_projects(folders)
    surface, warnings = build_surface(model), ()
    if files:
        surface, warnings = check_api_schemas(files, surface)
    return Compilation(surface, schema_files(model), warnings)


def refuse_text_without_standard(sources: Sequence[Path]) -> None:
    """Extensions in MetaEd text need the text of the standard: an ApiSchema file says too little to link with."""
    files = [path for path in sources if is_api_schema(path)]
    folders = _folders(sources)
    projects = read_sources(folders).projects if files else ()
    if projects and all(source.project.is_extension for source in projects):
        raise ImproperlyConfigured(
            f"{folders[0]} is MetaEd text, which has to be compiled together with the text of the data standard, but "
            f"{files[0]} is an ApiSchema file: name the ApiSchema file of the extension instead"
        )


def _folders(sources: Sequence[Path]) -> list[Path]:
    return [path for path in sources if not is_api_schema(path)]


def is_api_schema(path: Path) -> bool:
    """Whether a source is an ApiSchema file rather than the folder of a MetaEd project."""
    return path.suffix.lower() == ".json"


def fill_resource_types(*, using: str, **_: Any) -> None:
    """Receiver of `post_migrate`: gives every resource of the surface its number in the database."""
    resource_types.synchronise(current_surface().resources, using)
