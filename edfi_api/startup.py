"""The one door to the surface that this process serves: settings → model → surface, once.

Called at the edges only (wsgi, urls, checks, commands); inner functions are handed the `Resource`.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from edfi_api import apischema
from edfi_api.apischema.reader import read_api_schemas
from edfi_api.conf import api_settings
from edfi_api.documents import resource_types
from edfi_api.metaed.compiler import compile_projects
from edfi_api.metaed.source import read_sources
from edfi_api.surface.builder import build_surface
from edfi_api.surface.cache import CODE_PACKAGES, load_or_build
from edfi_api.surface.resource import Surface


@cache
def current_surface() -> Surface:
    """The surface of the configured projects.

    `ModelErrors` names every problem of MetaEd text, `ApiSchemaError` the first one of an ApiSchema file, and
    `ImproperlyConfigured` says what is wrong with the settings.
    """
    sources, cache_dir = api_settings.model_sources, api_settings.CACHE_DIR
    return load_or_build(sources, cache_dir, surface_of, (*CODE_PACKAGES, apischema))


def surface_of(sources: Sequence[Path]) -> Surface:
    """MetaEd projects are compiled together; what ApiSchema files say joins their surface."""
    refuse_text_without_standard(sources)
    files = [path for path in sources if is_api_schema(path)]
    folders = [path for path in sources if not is_api_schema(path)]
    compiled = [build_surface(compile_projects(folders))] if folders else []
    return read_api_schemas(files, *compiled) if files else compiled[0]


def refuse_text_without_standard(sources: Sequence[Path]) -> None:
    """Extensions in MetaEd text need the text of the standard: an ApiSchema file says too little to link with."""
    files = [path for path in sources if is_api_schema(path)]
    folders = [path for path in sources if not is_api_schema(path)]
    projects = read_sources(folders).projects if files else ()
    if projects and all(source.project.is_extension for source in projects):
        raise ImproperlyConfigured(
            f"{folders[0]} is MetaEd text, which has to be compiled together with the text of the data standard, but "
            f"{files[0]} is an ApiSchema file: name the ApiSchema file of the extension instead"
        )


def is_api_schema(path: Path) -> bool:
    """Whether a source is an ApiSchema file rather than the folder of a MetaEd project."""
    return path.suffix.lower() == ".json"


def fill_resource_types(*, using: str, **_: Any) -> None:
    """Receiver of `post_migrate`: gives every resource of the surface its number in the database."""
    resource_types.synchronise(current_surface().resources, using)
