"""What this process serves: settings → model → surface and XML schemas, compiled once.

The way of a request gets its `Resource` as an argument. Commands, pages of the admin and other work that concerns
several resources call `current_surface`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from edfi_api.common.conf import api_settings
from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.compilation import Compilation
from edfi_api.core.storage import resource_types
from edfi_api.model import apischema, xsd
from edfi_api.model.surface.cache import CODE_PACKAGES, load_or_build
from edfi_api.model.surface.ods_names import served_as_by_the_ods
from edfi_api.model.surface.resource import Surface


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
    compilation = load_or_build(Compilation, sources, cache_dir, build=_compiled, code=code)
    if OdsCompatibility.NAMES.applies:
        return replace(compilation, surface=served_as_by_the_ods(compilation.surface))
    return compilation


def _compiled(sources: Sequence[Path]) -> Compilation:
    # The compiler takes a twelfth of the time of a command, and most starts read the cache.
    from edfi_api.core.model_compiler import compiled  # noqa: PLC0415

    return compiled(sources)


def fill_resource_types(*, using: str, **_: Any) -> None:
    """Receiver of `post_migrate`: assigns a number in the database to every resource of the surface."""
    resource_types.synchronise(current_surface().resources, using)
