"""Model and surface → all views."""

from __future__ import annotations

from collections.abc import Mapping

from edfi_api.analysis.sql_views.authorization_views import authorization_views
from edfi_api.analysis.sql_views.bodies import ResourceBodies
from edfi_api.analysis.sql_views.tables import sql_tables
from edfi_api.analysis.sql_views.views import View, views
from edfi_api.model.metaed.model import Model
from edfi_api.model.surface.resource import ResourceName, Surface


def all_views(model: Model, surface: Surface, numbers: Mapping[ResourceName, int]) -> list[View]:
    """A view for each table of the ODS, then those of the schema `auth`.

    `numbers` are those of the resource types; all resources of the surface must have one. Raises UnusableNames.
    """
    bodies = ResourceBodies(model, surface, numbers)
    return [*views(sql_tables(model), bodies), *authorization_views(model, surface, numbers)]
