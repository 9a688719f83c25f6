"""Model and surface → all views; those of the configured model, for a database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.conf import api_settings
from edfi_api.core.compilation import is_api_schema
from edfi_api.core.startup import current_surface
from edfi_api.core.storage import resource_types
from edfi_api.features.sql_views.authorization_views import authorization_views
from edfi_api.features.sql_views.bodies import ResourceBodies
from edfi_api.features.sql_views.current_fingerprint import current_fingerprint
from edfi_api.features.sql_views.definitions import Definition, definitions
from edfi_api.features.sql_views.tables import sql_tables
from edfi_api.features.sql_views.views import View, views
from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.metaed.model import Model
from edfi_api.model.surface.resource import ResourceName, Surface


def all_views(model: Model, surface: Surface, numbers: Mapping[ResourceName, int]) -> list[View]:
    """A view for each table of the ODS, then those of the schema `auth`.

    `numbers` are those of the resource types; all resources of the surface must have one. Raises UnusableNames.
    """
    bodies = ResourceBodies(model, surface, numbers)
    return [*views(sql_tables(model), bodies), *authorization_views(model, surface, numbers)]


@dataclass(frozen=True, slots=True)
class CurrentViews:
    """The views, their definitions, what identifies the model and the code that they come from, and the model."""

    views: list[View]
    definitions: list[Definition]
    fingerprint: str
    model: Model


def current_views(using: str) -> CurrentViews:
    """The views of the configured projects.

    Raises ImproperlyConfigured if one of them is an ApiSchema file, LookupError if `migrate` has to be run first, and
    what compiling raises.
    """
    files = [path for path in api_settings.model_sources if is_api_schema(path)]
    if files:
        raise ImproperlyConfigured(
            f"{files[0]} is an ApiSchema file, which has neither the prefixes nor the tables of the ODS: SQL views need"
            " the MetaEd text of the standard and of all extensions"
        )
    surface, numbers = current_surface(), resource_types.numbers(using)
    missing = sorted(resource.name.resource for resource in surface.resources if resource.name not in numbers)
    if missing:
        raise LookupError(f"the database has no resource types for {', '.join(missing[:5])}: run migrate")
    model = compile_projects(list(api_settings.model_sources))
    views = all_views(model, surface, numbers)
    return CurrentViews(views, definitions(views, surface), current_fingerprint(), model)
