"""Sources of models, MetaEd projects and ApiSchema files → what is derived from them. Read from the cache otherwise."""

from collections.abc import Sequence
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.core.compilation import Compilation, is_api_schema
from edfi_api.model.apischema.reader import read_api_schemas
from edfi_api.model.metaed.compiler import check_projects
from edfi_api.model.metaed.errors import ModelErrors
from edfi_api.model.metaed.source import read_sources
from edfi_api.model.surface.builder import build_surface
from edfi_api.model.xsd.files import schema_files
from edfi_api.model.xsd.schema_file import SchemaFiles


def compiled(sources: Sequence[Path]) -> Compilation:
    """Compiles MetaEd projects together, and adds ApiSchema files to their surface.

    XML schemas need MetaEd text: ApiSchema files lack the order in which elements were declared. They are generated
    here, in a twelfth of the time of the compilation, because a cached surface has no model, and generating them later
    could read text that has changed.
    """
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
