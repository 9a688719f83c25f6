"""Ed-Fi's extension `EdFiXValidations`, in whose form clients can read rules, runs and results.

What it describes are rows of tables of validation, not stored documents. So its resources are only added to the surface
that is published: what handles documents does not have them.
"""

from dataclasses import replace
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.conf import api_settings
from edfi_api.core.served import compilation_of, is_api_schema
from edfi_api.features.validation.result_visibility import ENDPOINT, PROJECT
from edfi_api.model.surface.resource import Surface

_MODEL = Path(__file__).parent / "extension"


def is_extension_served(surface: Surface) -> bool:
    """Return whether the setting requires it. A loaded project of this name takes precedence: its documents are stored
    ones, at the same addresses."""
    return api_settings.VALIDATION_EXTENSION and all(each.endpoint != ENDPOINT for each in surface.projects)


def published_surface(surface: Surface) -> Surface:
    """The surface, with the resources of the extension if it is served. Raises ImproperlyConfigured if it cannot be
    compiled together with the data standard."""
    return with_extension(surface) if is_extension_served(surface) else surface


def with_extension(surface: Surface) -> Surface:
    """The surface with the resources of the extension. Raises ImproperlyConfigured as above."""
    standard = api_settings.data_standard
    if is_api_schema(standard):
        raise ImproperlyConfigured(
            f"MEADOWLARK_VALIDATION_EXTENSION needs a data standard in MetaEd text, and {standard} is an ApiSchema file"
        )
    compiled = compilation_of((standard, _MODEL), api_settings.CACHE_DIR).surface
    own = [replace(each, is_read_only=True) for each in compiled.resources if each.name.project == PROJECT]
    facts = [each for each in compiled.projects if each.name == PROJECT]
    return replace(surface, projects=(*surface.projects, *facts), resources=(*surface.resources, *own))
