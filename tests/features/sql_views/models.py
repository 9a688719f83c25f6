"""Models of MetaEd projects and their views, each made once for all tests, and what tests read of them."""

from collections.abc import Mapping
from functools import cache
from itertools import takewhile
from pathlib import Path

from edfi_api.features.sql_views.current import all_views
from edfi_api.features.sql_views.views import View
from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.metaed.model import Model
from edfi_api.model.surface.resource import ResourceName, Surface

_views: dict[object, list[View]] = {}


@cache
def compiled(*paths: Path) -> Model:
    """The model of these projects."""
    return compile_projects(list(paths))


def views_once(model: Model, surface: Surface, numbers: Mapping[ResourceName, int]) -> list[View]:
    """`all_views`, once for the same arguments."""
    key = (id(model), id(surface), frozenset(numbers.items()))
    if key not in _views:
        _views[key] = all_views(model, surface, numbers)
    return _views[key]


def model_columns(columns: list[str]) -> str:
    """The columns with their marks and without types, up to those of the envelope."""
    names = [f"{column.split()[0]}{'?' if column.endswith('?') else ''}" for column in columns]
    own = takewhile(lambda name: name not in ("discriminator?", "createdate"), names)
    return ", ".join(own)
