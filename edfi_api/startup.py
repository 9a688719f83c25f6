"""The one door to the surface that this process serves: settings → model → surface, once.

Called at the edges only (wsgi, urls, checks, commands); inner functions are handed the `Resource`.
"""

from functools import cache
from typing import Any

from edfi_api.conf import api_settings
from edfi_api.documents import resource_types
from edfi_api.surface.cache import load_or_build
from edfi_api.surface.resource import Surface


@cache
def current_surface() -> Surface:
    """The surface of the configured projects; `ModelErrors` names every problem of their text."""
    return load_or_build(api_settings.metaed_projects, api_settings.CACHE_DIR)


def fill_resource_types(*, using: str, **_: Any) -> None:
    """Receiver of `post_migrate`: gives every resource of the surface its number in the database."""
    resource_types.synchronise(current_surface().resources, using)
