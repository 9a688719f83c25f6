"""What this process serves: settings → model → surface and XML schemas, compiled once.

What answers a request is given its `Resource` as an argument. Commands, pages of the admin and other work on several
resources call `current_surface`. The bundled data standards are folders of `edfi_api/model/data_standards/`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.conf import BUNDLED_STANDARDS, api_settings
from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.storage import resource_types
from edfi_api.model import apischema, xsd
from edfi_api.model.metaed.errors import ModelErrors
from edfi_api.model.metaed.source import read_sources
from edfi_api.model.surface.cache import CODE_PACKAGES, load_or_build
from edfi_api.model.surface.ods_names import served_as_by_the_ods
from edfi_api.model.surface.resource import Surface
from edfi_api.model.xsd.schema_file import SchemaFiles


@dataclass(frozen=True)
class Compilation:
    """Everything derived from the model, which itself is discarded, and the warnings about ApiSchema files.

    `text_warnings` counts those about MetaEd text, without those about bundled text, which no one else can correct.
    """

    surface: Surface
    schema_files: SchemaFiles
    warnings: tuple[str, ...] = ()
    text_warnings: int = 0


@cache
def current_compilation() -> Compilation:
    """The compilation of the configured projects.

    Raises `ModelErrors` with every problem of MetaEd text, `ApiSchemaError` with the first one of an ApiSchema file, or
    `ImproperlyConfigured` for settings.
    """
    return compilation_of(api_settings.model_sources, api_settings.CACHE_DIR)


def current_surface() -> Surface:
    """The surface of the configured projects. Raises what `current_compilation` does."""
    return current_compilation().surface


def compilation_of(sources: Sequence[Path], cache_dir: Path | None) -> Compilation:
    """The compilation of these sources, from the cache if it has a folder and is up to date. Its surface has the names
    that are to be served."""
    code = (*CODE_PACKAGES, apischema, xsd)
    compilation = load_or_build(Compilation, sources, cache_dir, build=compiled, code=code)
    if OdsCompatibility.NAMES.applies:
        return replace(compilation, surface=served_as_by_the_ods(compilation.surface))
    return compilation


def compiled(sources: Sequence[Path]) -> Compilation:
    """Compile MetaEd projects together, and add ApiSchema files to their surface.

    XML schemas need MetaEd text: ApiSchema files lack the order in which elements were declared. They are generated
    here, in a twelfth of the time of the compilation, because a cached surface has no model, and generating them later
    could read text that has changed.
    """
    # The compiler takes a twelfth of the time of a command, and most starts read the cache.
    from edfi_api.model.apischema.reader import read_api_schemas  # noqa: PLC0415
    from edfi_api.model.metaed.compiler import check_projects  # noqa: PLC0415
    from edfi_api.model.surface.builder import build_surface  # noqa: PLC0415
    from edfi_api.model.xsd.files import schema_files  # noqa: PLC0415

    refuse_text_without_standard(sources)
    files, folders = [path for path in sources if is_api_schema(path)], _folders(sources)
    if not folders:
        surface, warnings = read_api_schemas(files)
        return Compilation(surface, SchemaFiles(), warnings)
    model, problems = check_projects(folders)
    if model is None:
        raise ModelErrors(problems)
    surface, warnings = build_surface(model), ()
    if files:
        surface, warnings = read_api_schemas(files, surface)
    text_warnings = sum(not Path(problem.place.file).is_relative_to(BUNDLED_STANDARDS) for problem in problems)
    return Compilation(surface, schema_files(model), warnings, text_warnings)


def refuse_text_without_standard(sources: Sequence[Path]) -> None:
    """Raises ImproperlyConfigured for extensions in MetaEd text on a standard in an ApiSchema file, which lacks what
    the linker needs."""
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
    """Return whether a source is an ApiSchema file rather than the folder of a MetaEd project."""
    return path.suffix.lower() == ".json"


def fill_resource_types(*, using: str, **_: Any) -> None:
    """Receiver of `post_migrate`: assigns a number in the database to every resource of the surface."""
    resource_types.synchronize(current_surface().resources, using)
